/** A door that shows a token for clients that have no option for one. Passes everything else on as it is. */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";

export interface TokenProxy {
  readonly url: string;
  /** Where requests go, and the token that they get. */
  leadTo(port: number, token: string): void;
  close(): Promise<void>;
}

export async function openTokenProxy(): Promise<TokenProxy> {
  let target: { port: number; token: string } | undefined;
  const server = createServer((incoming, outgoing) => {
    if (!target) return void outgoing.writeHead(503).end();
    const { method, url: path, headers } = incoming;
    const passed = request({
      ...{ host: "127.0.0.1", port: target.port, method, path },
      headers: { ...headers, authorization: `Bearer ${target.token}` },
    });
    passed.on("response", (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      // The head at once: a stream may have nothing to say for long.
      outgoing.flushHeaders();
      pipeline(response, outgoing, () => undefined);
    });
    outgoing.on("close", () => passed.destroy());
    pipeline(incoming, passed, (error) => {
      if (error && !outgoing.headersSent) outgoing.writeHead(502).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    leadTo: (port, token) => {
      target = { port, token };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
