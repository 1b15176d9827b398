/** FetchPort at programs that speak TLS alone, with certificates that nobody trusts. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer as createSecureServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createRawServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { makeAuthority } from "../../helpers/certificates.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { serve } from "../transfers/memory-stream.ts";
import { framesOf, never, OPEN, responseOf, SOCKET, serveHttp, wanted } from "./port-calls.ts";

/** A key and a certificate that this test signed itself. */
function selfSigned(): { key: Buffer; cert: Buffer } {
  return makeAuthority(temporaryFolder()).sign("localhost");
}

describe("a program that speaks TLS alone", () => {
  async function serveHttps(listener: RequestListener): Promise<Server> {
    const server = createSecureServer(selfSigned(), listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return server;
  }

  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  test("is asked by TLS, whoever signed its certificate, and knows its own origin", async () => {
    const asked: (string | undefined)[] = [];
    const server = await serveHttps((request, response) => {
      asked.push(`${request.method} ${request.headers.origin}`);
      request.pipe(response);
    });
    const port = portOf(server);
    const bench = await Workbench.open();
    const call = (method: string) => {
      const secret = { headers: [["Origin", `http://localhost:${port}`]] };
      return bench.call("FetchPort", { port, method, path: "/", secret }, OPEN);
    };
    expect(await responseOf((await serve(await call("GET"))).stream)).toMatchObject({ status: 200 });
    const { stream } = await serve(await call("POST"), { sends: [Buffer.from("hello")] });
    expect(await responseOf(stream)).toMatchObject({ status: 200, body: "hello" });
    expect(asked).toEqual([`GET https://localhost:${port}`, `POST https://localhost:${port}`]);
  });

  test("gets no request twice that may change something: the first one fails, and the next are asked by TLS", async () => {
    const asked: (string | undefined)[] = [];
    const server = await serveHttps((request, response) => {
      asked.push(request.method);
      response.end();
    });
    const bench = await Workbench.open();
    const remove = () =>
      bench.call(
        "FetchPort",
        { port: portOf(server), method: "DELETE", path: "/", secret: { headers: [] } },
        OPEN,
      );
    await expect(remove().then((result) => serve(result))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await responseOf((await serve(await remove())).stream)).toMatchObject({ status: 200 });
    expect(asked).toEqual(["DELETE"]);
  });

  test("that says so by an answer of 400 is asked by TLS too; one of plain HTTP keeps its 400", async () => {
    const server = await serveHttps((_request, response) => void response.end("secure"));
    const front = createRawServer((near) => {
      near
        .on("error", () => undefined)
        .once("data", (head: Buffer) => {
          if (head[0] !== 0x16) {
            near.end("HTTP/1.0 400 Bad Request\r\n\r\nThis port speaks TLS.");
            return;
          }
          const far = connect(portOf(server), "127.0.0.1").on("error", () => near.destroy());
          far.write(head);
          near.pipe(far).pipe(near);
        });
    }).listen(0, "127.0.0.1");
    await once(front, "listening");
    onTestFinished(() => void front.close());
    const secure = await serve(await wanted((front.address() as AddressInfo).port));
    expect(await responseOf(secure.stream)).toMatchObject({ status: 200, body: "secure" });
    const plain = await serveHttp((_request, response) => void response.writeHead(400).end("no"));
    const { stream } = await serve(await wanted(plain));
    expect(await responseOf(stream)).toMatchObject({ status: 400, body: "no" });
  });

  test("opens WebSockets", async () => {
    const server = await serveHttps(() => undefined);
    const sockets = new WebSocketServer({ server, handleProtocols: () => "chat" });
    onTestFinished(() => sockets.close());
    sockets.on("connection", (ws) => ws.close(4321, "by TLS"));
    const { stream } = await serve(
      await wanted(portOf(server), { ...SOCKET, headers: [...SOCKET.headers] }),
      {
        sends: never(),
      },
    );
    expect(await framesOf(stream)).toEqual([{ kind: "close", code: 4321, reason: "by TLS" }]);
  });
});
