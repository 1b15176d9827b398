/** A caller on a WebSocket: sends calls, and settles each by the id of its answer. */
import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import { callFrame, callIdOf, type Work } from "./frames.ts";
import type { Line } from "./variant.ts";

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

interface AnswerHead {
  id: string | null;
  type: string;
  output: string;
}

/** Reading a long answer to its end would be the caller's time, not the relay's. */
const LONG = 4096;

function headOf(data: Buffer): AnswerHead {
  if (data.length < LONG) return JSON.parse(data.toString()) as AnswerHead;
  const [, id = null, type = ""] =
    /^{"id":"([^"]*)","type":"([^"]*)"/.exec(data.toString("latin1", 0, LONG)) ?? [];
  return { id, type, output: "" };
}

export async function socketLine(
  url: string,
  work: Work,
  options: ClientOptions = {},
  protocols: string[] = [],
): Promise<Line> {
  const socket = new WebSocket(url, protocols, { perMessageDeflate: false, ...options });
  const waiting = new Map<string, Waiting>();
  let count = 0;
  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  socket.on("message", (data: Buffer) => {
    const answer = headOf(data);
    if (answer.type === "hello") return;
    const call = waiting.get(answer.id ?? "");
    if (!call) return failAll(new Error(`an answer to no call: ${data.toString().slice(0, 300)}`));
    waiting.delete(answer.id ?? "");
    if (answer.type === "success") call.resolve();
    else call.reject(new Error(`the call failed: ${answer.output}`));
  });
  socket.on("close", (code) => failAll(new Error(`the caller's socket was closed (${code})`)));
  await once(socket, "open");
  return {
    call: () =>
      new Promise((resolve, reject) => {
        const id = callIdOf(count++);
        waiting.set(id, { resolve, reject });
        socket.send(callFrame(id, work));
      }),
    close: () => socket.terminate(),
  };
}
