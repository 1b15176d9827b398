import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { deviceBySocket } from "../../../agent/cli/client/device.ts";
import { relayAt } from "../../../agent/cli/client/relay.ts";
import { LiveInPipe, LiveOnTerminal } from "../../../agent/cli/output/live-output.ts";
import { endCall } from "../../../agent/cli/output/print-answer.ts";

test("a call that is cancelled while the connection is made is not sent", async () => {
  const upgrade = Promise.withResolvers<(accepted: boolean) => void>();
  const messages: string[] = [];
  const server = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    verifyClient: (_info, accept) => upgrade.resolve(accept),
  });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on("connection", (socket) => socket.on("message", (data) => messages.push(data.toString())));
  await once(server, "listening");
  const stop = new AbortController();
  const device = deviceBySocket(
    relayAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "token"),
    "box",
  );
  const made = device.call("Bash", {}, { signal: stop.signal });
  const refused = expect(made).rejects.toMatchObject({
    code: "CANCELLED",
    message: "Cancelled before the call was sent: nothing ran",
  });
  const accept = await upgrade.promise;
  stop.abort();
  accept(true);
  await refused;
  device.close();
  expect(messages).toEqual([]);
});

test("bytes that are no text are no gap in what is shown, a jump is one", () => {
  const spies = [vi.spyOn(process.stdout, "write"), vi.spyOn(process.stderr, "write")];
  for (const spy of spies) spy.mockReturnValue(true);
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const terminal = new LiveOnTerminal();
  terminal.show("stdout", 0, "\ufffd");
  terminal.show("stdout", 1, "");
  expect(terminal.isWhole).toBe(true);
  terminal.show("stdout", 100, "");
  expect(terminal.isWhole).toBe(false);

  const pipe = new LiveInPipe();
  pipe.show("stdout", 0, "caf\u00e9");
  pipe.show("stdout", 5, "\ufffd");
  pipe.show("stdout", 6, "later");
  expect(pipe.exactTo).toBe(5);
});

test("a relay that is not there ran nothing, and this is said", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  const made = deviceBySocket(relayAt(`http://127.0.0.1:${port}`, "token"), "box").call("Bash");
  await expect(made).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("so nothing ran"),
  });
});

test("a file that cannot be written is said in plain words", async () => {
  const answer = { type: "success" as const, output: "x" };
  const save = "/nonexistent/file";
  const ended = { client: relayAt("http://127.0.0.1:9"), device: "box", tool: "Read" };
  const more = { ...ended, isBase64: false, nextPage: undefined };
  await expect(endCall({ answer, session: undefined }, more, { save })).rejects.toThrow(
    "/nonexistent/file can't be written (ENOENT)",
  );
});
