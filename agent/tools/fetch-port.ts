/** FetchPort: makes an HTTP request to a port of this machine, or opens a WebSocket there, through the stream that the call opens. */
import { type HeaderList, headersSchema } from "@matrx/shared/forwarding/head.ts";
import { portSchema } from "@matrx/shared/ports.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { LOOPBACK, type LoopbackHost } from "../ports/connect.ts";
import { ownPortError } from "../ports/errors.ts";
import { fetchExchange, serveExchange } from "../ports/fetch.ts";
import type { OwnPorts } from "../ports/own-ports.ts";
import { TlsPorts } from "../ports/tls.ts";
import { webSocketExchange } from "../ports/web-socket.ts";
import { needsStreamError } from "../transfers/errors.ts";

const input = z.strictObject({
  port: portSchema.describe("The TCP port, 1 to 65535"),
  host: z
    .enum(Object.keys(LOOPBACK) as [LoopbackHost, ...LoopbackHost[]])
    .optional()
    .describe("An address of the device itself (default `localhost`: 127.0.0.1, then ::1)"),
  method: z
    .string()
    .regex(/^[A-Z-]{1,32}$/)
    .refine((method) => method !== "CONNECT", "CONNECT is no request")
    .describe("The request's method, in capitals"),
  path: z
    .string()
    .regex(/^\/[!-"$->@-~]*$/)
    .max(8192)
    .describe("The path, without query"),
  secret: z
    .strictObject({
      query: z
        .string()
        .regex(/^[!-"$-~]*$/)
        .max(16_384)
        .optional(),
      headers: headersSchema.refine(hasOneLength, "must have at most one Content-Length, which is a number"),
    })
    .describe("`query`, without `?`, and `headers`, as pairs: never recorded, since they may hold secrets"),
  websocket: z.boolean().optional().describe("Open a WebSocket instead"),
});

/** Two programs that read two lengths differently see different requests. */
function hasOneLength(headers: HeaderList): boolean {
  const lengths = headers.filter(([name]) => name.toLowerCase() === "content-length");
  return lengths.length <= 1 && lengths.every(([, value]) => /^\d{1,15}$/.test(value));
}

export function fetchPortTool(ownPorts: OwnPorts) {
  const ports = new TlsPorts();
  return defineTool({
    name: "FetchPort",
    family: "ports",
    effect: "execute",
    description:
      "Make an HTTP request to a port of the device's own loopback address, or open a WebSocket there. For programs, such as the relay, which shows a device's web servers in a browser.",
    details:
      "The request's body is what the caller sends, up to its `end`. What comes back is the response's head, which is JSON behind its length in four bytes, and its body. The request's Host is `localhost` with the port. A port that speaks TLS alone is asked by TLS, with any certificate. No redirect is followed, nothing is decompressed, and headers for one connection only are left out. Messages of a WebSocket are framed. Which ports may be used is decided as for `ConnectPort`.",
    input,
    model: { hidden: true },
    timeoutMs: 15_000,
    prepare: ({ port, path }) => ({
      port: { number: port, tool: "FetchPort" },
      subjects: [`localhost:${port}`, `http://localhost:${port}${path}`],
    }),
    async handle({ port, host = "localhost", method, path, secret, websocket }, { opensStream, signal }) {
      if (!opensStream) throw needsStreamError("FetchPort");
      if (ownPorts.has(port)) throw ownPortError(port);
      const dialled = await ports.connect(port, host, signal);
      const query = secret.query === undefined ? "" : `?${secret.query}`;
      const wanted = { port, method, path: `${path}${query}`, headers: secret.headers };
      const exchange = websocket ? webSocketExchange(wanted) : fetchExchange(wanted);
      return {
        output: `Connected to port ${port}`,
        metadata: { port, address: dialled.socket.remoteAddress },
        stream: serveExchange(dialled, port, exchange),
      };
    },
  });
}
