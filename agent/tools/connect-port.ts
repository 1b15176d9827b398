/** ConnectPort: connects to a TCP port of this machine, and passes bytes both ways through the stream that the call opens. */
import { portSchema } from "@matrx/shared/ports.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { connectPort, LOOPBACK, type LoopbackHost } from "../ports/connect.ts";
import { ownPortError } from "../ports/errors.ts";
import type { OwnPorts } from "../ports/own-ports.ts";
import { servePort } from "../ports/serve.ts";
import { needsStreamError } from "../transfers/errors.ts";

const input = z.strictObject({
  port: portSchema.describe("The TCP port, 1 to 65535"),
  host: z
    .enum(Object.keys(LOOPBACK) as [LoopbackHost, ...LoopbackHost[]])
    .optional()
    .describe("An address of the device itself (default `localhost`: 127.0.0.1, then ::1)"),
});

export function connectPortTool(ownPorts: OwnPorts) {
  return defineTool({
    name: "ConnectPort",
    family: "ports",
    effect: "execute",
    description:
      "Connect to a TCP port of the device's own loopback address, as a stream of bytes both ways. For programs, such as `matrx forward`, which call it over a WebSocket with `opens`.",
    details:
      "The caller's `end` is passed on as FIN. The port's FIN is the message `{\"fin\":true}`; the stream ends when both directions have ended, with the number of bytes each way. Ports on which Matrx itself listens are refused. Which others may be used is a matter of `allowed_ports` of the policy; without it, only the owner's own calls may.",
    input,
    model: { hidden: true },
    timeoutMs: 15_000,
    prepare: ({ port }) => ({ port: { number: port, tool: "ConnectPort" }, subjects: [`localhost:${port}`] }),
    async handle({ port, host = "localhost" }, { opensStream, signal }) {
      if (!opensStream) throw needsStreamError("ConnectPort");
      if (ownPorts.has(port)) throw ownPortError(port);
      const socket = await connectPort(port, host, signal);
      const { remoteAddress: address } = socket;
      return {
        output: `Connected to port ${port}`,
        metadata: { port, address },
        stream: servePort(socket, port),
      };
    },
  });
}
