/** How far a call is, on the local server: told to those who asked for live output, as at the relay. */
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { bearer, json, serve } from "./serve.ts";

it("reaches a WebSocket that asked, before its answer with parts and structure", async () => {
  const { url } = await serve();
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: bearer });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const frames: unknown[] = [];
  const answered = new Promise<void>((resolve) =>
    socket.on("message", (data) => {
      frames.push(JSON.parse(data.toString()));
      if (JSON.parse(data.toString()).id === "quiet") resolve();
    }),
  );
  socket.send(JSON.stringify({ id: "live", tool: "Bash", input: { command: "progress" }, stream: true }));
  socket.send(JSON.stringify({ id: "quiet", tool: "Bash", input: { command: "progress" } }));
  await answered;
  expect(frames).toMatchObject([
    { id: "live", type: "progress", progress: 1, total: 2 },
    { id: "live", type: "success", content: [{ type: "text", text: "half" }], structured: 7 },
    { id: "quiet", type: "success" },
  ]);
});

it("is an event of a streamed call over HTTP", async () => {
  const { url } = await serve();
  const response = await fetch(`${url}/tools/Bash`, {
    method: "POST",
    headers: { ...json, Accept: "text/event-stream" },
    body: JSON.stringify({ command: "progress" }),
  });
  expect(await response.text()).toContain(
    'event: progress\ndata: {"type":"progress","progress":1,"total":2}\n\n',
  );
});
