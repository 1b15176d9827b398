/** The agent's ends of streams: on which connection they go, and what ends them. */
import { once } from "node:events";
import { TIMES } from "@matrx/shared/limits.ts";
import { resetErrorOf } from "@matrx/shared/streams/frame.ts";
import { afterEach, expect, test, vi } from "vitest";
import type { ByteStream, ServeStream } from "../../../agent/core/byte-stream.ts";
import { OWNER } from "../core/small-tools.ts";
import { type DeviceEnd, KiB, streamScene } from "./stream-relay.ts";

afterEach(() => vi.useRealTimers());

const saying =
  (text: string): ServeStream =>
  async (stream) => {
    await stream.write(Buffer.from(text));
    return undefined;
  };

/** Serves until the stream is over, and says how it ended. */
function lasting(): { serve: ServeStream; started: Promise<ByteStream>; why: () => unknown } {
  const started = Promise.withResolvers<ByteStream>();
  const ended = Promise.withResolvers<never>();
  let stream: ByteStream | undefined;
  return {
    serve: (one) => {
      stream = one;
      started.resolve(one);
      one.signal.addEventListener("abort", () => ended.reject(one.signal.reason));
      return ended.promise;
    },
    started: started.promise,
    why: () => stream?.signal.reason,
  };
}

async function resetOf(end: DeviceEnd | undefined, stream = 1) {
  const found = () => end?.frames.find((one) => one.kind === "reset" && one.stream === stream);
  await expect.poll(found).toBeDefined();
  const frame = found();
  if (!frame) throw new Error("no reset");
  return resetErrorOf(frame);
}

test("files take a connection of their own, key presses the one that is there", async () => {
  const { serve, first, second } = await streamScene();
  await serve(saying("keys"), { stream: 1, interactive: true });
  expect(second).toHaveLength(0);
  const scene = await streamScene();
  await scene.serve(saying("file"), { stream: 2 });
  await expect.poll(() => scene.second[0]?.told(2)).toEqual(["file", "end"]);
  expect(scene.second[0]?.frames.every(({ bulk }) => bulk)).toBe(true);
  expect(JSON.parse(scene.second[0]?.texts[0] ?? "")).toMatchObject({
    ...{ type: "device_bulk", device_id: "box" },
    auth_token: expect.stringMatching(/^Bearer signed /),
  });
  await expect.poll(() => first.told()).toEqual(["keys", "end"]);
  expect(first.frames.some(({ bulk }) => bulk)).toBe(false);
});

test("what the caller ends or resets before that connection is there is not forgotten", async () => {
  const scene = await streamScene();
  const ended = scene.serve(
    async (stream) => {
      for await (const _piece of stream.incoming());
      await stream.write(Buffer.from("ended"));
      return undefined;
    },
    { stream: 1 },
  );
  scene.first.send("end", "", { stream: 1 });
  const over = scene.serve(saying("never"), { stream: 2 });
  scene.first.reset(2);
  await Promise.all([ended, over]);
  await expect.poll(() => scene.second[0]?.told(1)).toEqual(["credit", "ended", "end"]);
  expect(scene.second[0]?.told(2)).toEqual([]);
});

test("that connection closes when nothing has used it for a while, and the next file dials again", async () => {
  const scene = await streamScene({ idleMs: 20 });
  await scene.serve(saying("one"), { stream: 1 });
  const [second] = scene.second;
  await once(second?.socket ?? raise(), "close");
  await scene.serve(saying("two"), { stream: 2 });
  await expect.poll(() => scene.second[1]?.told(2)).toEqual(["two", "end"]);
});

test("files that begin while it is in use share it, and it stays as long as one goes on", async () => {
  const scene = await streamScene({ idleMs: 0 });
  const long = lasting();
  const over = scene.serve(long.serve, { stream: 1 });
  await long.started;
  await scene.serve(saying("two"), { stream: 2 });
  await scene.serve(saying("three"), { stream: 3 });
  expect(scene.second).toHaveLength(1);
  scene.first.reset(1);
  await over;
  await once(scene.second[0]?.socket ?? raise(), "close");
});

test("files on one connection take turns: none is far ahead when the first one is whole", async () => {
  const scene = await streamScene();
  const size = 8 * 1024 * KiB;
  let begun = 0;
  const file: ServeStream = async (stream) => {
    begun++;
    await stream.write(new Uint8Array(size));
    return undefined;
  };
  await scene.serve(saying("opens the connection"), { stream: 9 });
  const all = [1, 2, 3, 4, 5, 6, 7, 8];
  // Nothing is read until all of them wait.
  scene.second[0]?.socket.pause();
  const served = all.map((stream) => scene.serve(file, { stream, credit: 2 * size }));
  await expect.poll(() => begun).toBe(all.length);
  scene.second[0]?.socket.resume();
  await Promise.all(served);
  const frames = () => scene.second[0]?.frames.filter(({ stream }) => stream !== 9) ?? [];
  await expect.poll(() => frames().filter(({ kind }) => kind === "end").length).toBe(all.length);
  const sent = new Map(all.map((stream) => [stream, 0]));
  for (const { kind, stream, payload } of frames()) {
    if (kind === "data") sent.set(stream, (sent.get(stream) ?? 0) + payload.length);
    if (sent.get(stream) === size) break;
  }
  expect(Math.max(...sent.values())).toBe(size);
  expect(Math.min(...sent.values())).toBeGreaterThan(size * 0.75);
});

test("a relay that does not accept it gets files on the first connection", async () => {
  const answer = { type: "error", error_code: "UNAUTHENTICATED", message: "no" };
  const { serve, first } = await streamScene({ answer });
  await serve(saying("file"));
  await expect.poll(() => first.told()).toEqual(["file", "end"]);
});

test("when it is lost, the callers of its streams are told over the first, and the others go on", async () => {
  const scene = await streamScene();
  const file = lasting();
  const keys = lasting();
  const over = scene.serve(file.serve, { stream: 1 });
  const other = scene.serve(keys.serve, { stream: 2, interactive: true });
  await file.started;
  scene.second[0]?.socket.terminate();
  await over;
  expect(await resetOf(scene.first, 1)).toMatchObject({ code: "UNAVAILABLE", hop: "agent" });
  expect(file.why()).toMatchObject({ code: "UNAVAILABLE" });
  await (await keys.started).write(Buffer.from("still here"));
  await expect.poll(() => scene.first.told(2)).toEqual(["still here"]);
  scene.first.reset(2);
  await other;
});

test("a stream ends when the policy no longer allows its tool", async () => {
  const why = { code: "PERMISSION_DENIED", message: "Bash is not allowed", hop: "agent" } as const;
  let refusal: typeof why | undefined;
  const { serve, streams, first } = await streamScene({ refusalNow: () => refusal });
  const { serve: tool, started } = lasting();
  const over = serve(tool, { interactive: true });
  await started;
  streams.rightsChanged();
  expect(first.frames).toEqual([]);
  refusal = why;
  streams.rightsChanged();
  await over;
  expect(await resetOf(first)).toEqual(why);
  await serve(saying("late"), { stream: 2, interactive: true });
  expect(await resetOf(first, 2)).toEqual(why);
});

test("a stream ends with its grant", async () => {
  const { serve, streams, first } = await streamScene();
  const { serve: tool, started } = lasting();
  const over = serve(tool, { interactive: true });
  await started;
  const error = { code: "PERMISSION_DENIED", message: "ended", hop: "agent" } as const;
  streams.endFor(({ id }) => id !== OWNER.id, error);
  expect(first.frames).toEqual([]);
  streams.endFor(({ id }) => id === OWNER.id, error);
  await over;
  expect(await resetOf(first)).toEqual(error);
});

test("a stream that nobody reads for ten minutes ends; one that says nothing goes on", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const { serve, first } = await streamScene();
  const silent = lasting();
  const quiet = serve(silent.serve, { stream: 1, interactive: true });
  const writing = Promise.withResolvers<void>();
  const unread = serve(
    async (stream) => {
      const written = stream.write(Buffer.alloc(48 * KiB));
      setImmediate(writing.resolve);
      await written;
      return undefined;
    },
    { stream: 2, interactive: true, credit: 32 * KiB },
  );
  await writing.promise;
  vi.advanceTimersByTime(TIMES.streamWaits - 2000);
  expect(first.frames.some(({ kind }) => kind === "reset")).toBe(false);
  vi.advanceTimersByTime(4000);
  await unread;
  expect(await resetOf(first, 2)).toMatchObject({ code: "TIMEOUT" });
  expect(silent.why()).toBeUndefined();
  first.reset(1);
  await quiet;
});

test("a tool's failure resets its stream with that error, and no inside is told", async () => {
  const { serve, first } = await streamScene();
  await serve(() => Promise.reject(new Error("a secret of the inside")), { interactive: true });
  const error = await resetOf(first);
  expect(error).toMatchObject({ code: "INTERNAL", hop: "agent" });
  expect(JSON.stringify(error)).not.toContain("secret");
});

test("data for a stream that is over is answered; frames that nobody can read are not", async () => {
  const { serve, first } = await streamScene();
  first.socket.send(Buffer.from([16, 1, 2]));
  first.credit(KiB, 9);
  first.send("data", "late", { stream: 8 });
  expect(await resetOf(first, 8)).toMatchObject({ code: "NOT_FOUND" });
  await serve(saying("goes on"), { interactive: true });
  await expect.poll(() => first.told()).toEqual(["goes on", "end"]);
  expect(first.told(9)).toEqual([]);
});

function raise(): never {
  throw new Error("there is no second connection");
}
