/** How the connection of the app to the relay notices that it is broken. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket as Accepted, WebSocketServer } from "ws";
import { keepAlive } from "../../../web/src/relay/live-socket.ts";

const PING = '{"action":"ping"}';

test("a sign of life is asked for once it is open, and measured though other frames come first", async () => {
  const { server, heard, frames, roundTrips, live } = await scene();
  await expect.poll(() => heard).toEqual([PING]);
  live.check();
  server.send('{"type":"hello"}');
  await expect.poll(() => frames).toEqual(["hello"]);
  live.check();
  vi.advanceTimersByTime(40);
  server.send('{"type":"pong"}');
  await expect.poll(() => roundTrips).toHaveLength(1);
  expect(roundTrips[0]).toBeGreaterThanOrEqual(40);
  expect(heard).toEqual([PING]);
  live.check();
  await expect.poll(() => heard).toEqual([PING, PING]);
});

test("it is asked for every 20 seconds, and a connection that stays silent has ended, once", async () => {
  const { server, heard, roundTrips, ends, live } = await scene();
  server.send('{"type":"pong"}');
  await expect.poll(() => roundTrips).toHaveLength(1);
  vi.advanceTimersByTime(20_000);
  await expect.poll(() => heard).toEqual([PING, PING]);
  expect(ends()).toBe(0);
  vi.advanceTimersByTime(20_000);
  expect(ends()).toBe(1);
  await once(server, "close");
  vi.advanceTimersByTime(60_000);
  live.check();
  expect(ends()).toBe(1);
  expect(live.send("x")).toBe(false);
});

test("one that sends anything is alive", async () => {
  const { server, heard, frames, ends } = await scene();
  await expect.poll(() => heard).toEqual([PING]);
  vi.advanceTimersByTime(5_000);
  server.send('{"type":"later"}');
  await expect.poll(() => frames).toEqual(["later"]);
  vi.advanceTimersByTime(15_000);
  await expect.poll(() => heard).toEqual([PING, PING]);
  expect(ends()).toBe(0);
});

test("whoever closes it is not told that it ended", async () => {
  const { server, ends, live } = await scene();
  live.close();
  await once(server, "close");
  expect(ends()).toBe(0);
});

/** A connection whose pings nobody answers by itself, and a clock that goes on only where a test waits. */
async function scene() {
  const listening = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(listening, "listening");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const { port } = listening.address() as AddressInfo;
  const accepted = once(listening, "connection") as Promise<[Accepted]>;
  const frames: string[] = [];
  const roundTrips: number[] = [];
  const onEnd = vi.fn();
  const live = keepAlive(
    new WebSocket(`ws://127.0.0.1:${port}`),
    (data): { type: string } => JSON.parse(String(data)),
    {
      onFrame: ({ type }) => frames.push(type),
      onRoundTrip: (ms) => roundTrips.push(ms),
      onEnd,
    },
  );
  const [server] = await accepted;
  const heard: string[] = [];
  server.on("message", (data) => heard.push(String(data)));
  onTestFinished(async () => {
    vi.useRealTimers();
    live.close();
    server.terminate();
    await new Promise((resolve) => listening.close(resolve));
  });
  return { server, heard, frames, roundTrips, live, ends: () => onEnd.mock.calls.length };
}
