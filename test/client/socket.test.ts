/** Calls and streams over one WebSocket, against the frames that docs/protocol.md describes. The other end is in this test. */
import { expect, onTestFinished, test, vi } from "vitest";
import { Device } from "../../client/device.ts";
import type { ConnectionOptions } from "../../client/socket/connection.ts";
import { readFrame } from "../../client/socket/read-frame.ts";
import type { SocketListener } from "../../client/socket/socket.ts";
import { SocketTransport } from "../../client/socket/transport.ts";
import type { CallEvent, StreamOptions } from "../../client/transport.ts";
import { LIMITS, TIMES } from "../../shared/limits.ts";
import { StreamEnd } from "../../shared/streams/endpoint.ts";
import { decodeStreamFrame, encodeStreamFrame } from "../../shared/streams/frame.ts";

const CREDIT = 64 * 1024;

test("a call opens a stream, whose bytes go both ways as there is credit", async () => {
  const { open, machine } = await connected();
  const { opening, call } = await open({ credit: CREDIT });
  expect(call).toMatchObject({ tool: "TerminalAttach", opens: { credit: CREDIT } });
  const far = machine.serve(call);
  // Data may arrive before the answer.
  await far.send({ type: "attached", sequence: 0 });
  machine.answer({ id: call?.id, type: "success", output: "Attached" });
  const { stream } = await opening;
  const keys = far.incoming();
  const typed = keys.next();
  await stream.write(new TextEncoder().encode("ls\r"));
  expect((await typed).value).toEqual({ kind: "data", bytes: new TextEncoder().encode("ls\r") });
  const shown = stream.incoming();
  expect((await shown.next()).value).toEqual({ kind: "message", message: { type: "attached", sequence: 0 } });
  // No more than the credit is on its way while nobody takes it.
  const flood = far.write(new Uint8Array(3 * CREDIT)).then(() => "sent");
  await expect.poll(() => machine.sentBytes).toBeGreaterThan(CREDIT / 2);
  expect(machine.sentBytes).toBeLessThanOrEqual(CREDIT);
  let taken = 0;
  while (taken < 3 * CREDIT) {
    const { value } = await shown.next();
    if (value?.kind === "data") taken += value.bytes.length;
  }
  expect(await flood).toBe("sent");
  await far.end({ exit_code: 3 });
  expect((await shown.next()).done).toBe(true);
  expect(stream.trailer).toEqual({ exit_code: 3 });
});

test("a call that is refused opens none, and says why", async () => {
  const { open, machine } = await connected();
  const { opening, call } = await open({ credit: CREDIT });
  const refusal = { code: "NOT_FOUND", output: "No terminal", hop: "tool" };
  machine.answer({ id: call?.id, type: "error", ...refusal });
  await expect(opening).rejects.toMatchObject({ code: "NOT_FOUND", message: "No terminal", hop: "tool" });
});

test("a lost connection ends calls and streams, and leaving resets a stream", async () => {
  const { open, machine } = await connected();
  const leaving = new AbortController();
  const { opening, call } = await open({ credit: CREDIT, signal: leaving.signal });
  const far = machine.serve(call);
  machine.answer({ id: call?.id, type: "success", output: "" });
  const { stream } = await opening;
  leaving.abort();
  expect(stream.signal.aborted).toBe(true);
  expect(far.signal.reason).toMatchObject({ code: "CANCELLED" });
  const again = await open({ credit: CREDIT });
  machine.serve(again.call);
  machine.answer({ id: again.call?.id, type: "success", output: "" });
  const { stream: second } = await again.opening;
  const waiting = await open({ credit: CREDIT });
  machine.vanish("it went to sleep");
  await expect(waiting.opening).rejects.toMatchObject({
    ...{ code: "UNAVAILABLE", message: "Lost the connection to the relay: it went to sleep" },
  });
  expect(second.signal.reason).toMatchObject({ code: "UNAVAILABLE" });
});

test("a machine that sends more than it may is stopped", async () => {
  const { open, machine } = await connected();
  const { opening, call } = await open({ credit: 32 * 1024 });
  machine.answer({ id: call?.id, type: "success", output: "" });
  const { stream } = await opening;
  machine.frame(encodeStreamFrame(addressOf(call), "data", new Uint8Array(33 * 1024)));
  expect(stream.signal.reason).toMatchObject({ code: "INVALID_MESSAGE" });
});

test("a stream that is over is held by nobody's signal any more", async () => {
  const { open, machine } = await connected();
  const { signal } = new AbortController();
  let listening = 0;
  const counted = Object.assign(signal, {
    addEventListener: (...args: Parameters<AbortSignal["addEventListener"]>) => {
      listening += 1;
      AbortSignal.prototype.addEventListener.apply(signal, args);
    },
    removeEventListener: (...args: Parameters<AbortSignal["removeEventListener"]>) => {
      listening -= 1;
      AbortSignal.prototype.removeEventListener.apply(signal, args);
    },
  });
  const { opening, call } = await open({ credit: CREDIT, signal: counted });
  const far = machine.serve(call);
  machine.answer({ id: call?.id, type: "success", output: "" });
  await opening;
  expect(listening).toBe(1);
  await far.end();
  expect(listening).toBe(0);
});

test("whoever opens a stream hears that a person is asked about it", async () => {
  const { open, machine } = await connected();
  const asked: CallEvent[] = [];
  const { opening, call } = await open({ credit: CREDIT }, (event) => asked.push(event));
  const facts = { call: "call_0123456789abcdef", approval: "ap_0123456789abcdef", summary: "Attach" };
  machine.answer({
    ...{ id: call?.id, type: "approval", ...facts, edited: false, state: "pending" },
    expires: "2026-01-01T00:00:00.000Z",
  });
  machine.serve(call);
  machine.answer({ id: call?.id, type: "success", output: "" });
  await opening;
  expect(asked).toMatchObject([{ type: "approval", state: "pending", summary: "Attach" }]);
});

test("many calls at once, with one signal or none, and many breaks of the events keep no signal's listeners", async () => {
  const { transport, machine, said } = await connected();
  const mostListeners = countListeners();
  const device = new Device(transport);
  const { signal } = new AbortController();
  const made = Array.from({ length: 30 }, (_, n) => device.call("Read", {}, n % 2 === 0 ? {} : { signal }));
  await vi.waitUntil(() => said.length === made.length);
  for (const { id } of said) machine.answer({ id, type: "success", output: "" });
  await Promise.all(made);
  for (let breaks = 0; breaks < 15; breaks++) {
    const onConnect = () => queueMicrotask(() => machine.vanish("it restarts"));
    await transport.watch({ after: undefined, onEvent: () => undefined, onConnect, signal });
  }
  // Node 20 warns of a leak at 11.
  expect(mostListeners()).toBeLessThan(5);
});

test("a device that is closed here cancels its streams, those that are not open yet too", async () => {
  const { transport, machine, said } = await connected();
  const device = new Device(transport);
  const opening = device.open("TerminalAttach", {});
  await vi.waitUntil(() => said.length === 1);
  machine.answer({ id: said[0]?.id, type: "success", output: "" });
  const { stream } = await opening;
  const second = device.open("TerminalAttach", {});
  device.close();
  await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
  expect(stream.signal.reason).toMatchObject({ code: "CANCELLED" });
});

test("a sign of life is asked for at once, and a connection without one is cut", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { transport, machine, said } = await connected();
  transport.check();
  transport.check();
  expect(said).toEqual([{ action: "ping" }]);
  machine.answer({ type: "pong" });
  vi.advanceTimersByTime(TIMES.pongWithin);
  expect(machine.isCut).toBe(false);
  transport.check();
  expect(said).toHaveLength(2);
  vi.advanceTimersByTime(TIMES.pongWithin);
  expect(machine.isCut).toBe(true);
});

test("a connection that falls silent is lost at once, though its socket does not say that it closed", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { transport, said } = await connected();
  const device = new Device(transport);
  const made = device.call("Write", { path: "/tmp/a", content: "" }, { idempotencyKey: null });
  made.catch(() => undefined);
  await vi.waitUntil(() => said.length === 1);
  await vi.advanceTimersByTimeAsync(TIMES.heartbeat + TIMES.pongWithin);
  await expect(made).rejects.toMatchObject({
    code: "OUTCOME_UNKNOWN",
    message: "Lost the connection to the relay before the answer arrived: It has not answered for a while",
  });
});

test("a call that is too large to be sent is refused here, and others go on", async () => {
  const { transport, machine, said } = await connected();
  const make = (content: string) =>
    new Device(transport).call("Write", { path: "/tmp/a", content }, { idempotencyKey: null });
  await expect(make("é".repeat(LIMITS.callFrameBytes / 2))).rejects.toMatchObject({
    ...{ code: "PAYLOAD_TOO_LARGE", hop: "caller", details: { limit_bytes: LIMITS.callFrameBytes } },
  });
  expect(said).toEqual([]);
  const small = make("é");
  await vi.waitUntil(() => said.length === 1);
  machine.answer({ id: said[0]?.id, type: "success", output: "Written" });
  expect(await small).toMatchObject({ output: "Written" });
});

test("whoever asks is told whom a connection leads to, and how long a sign of life takes", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const told: unknown[] = [];
  const { transport, machine } = await connected({
    onHello: ({ device }) => told.push(device),
    onRoundTrip: (ms) => told.push(ms),
  });
  machine.answer({ type: "hello", protocol: 1, session: "9f3e2d6a8c410e75", device: "laptop-4k7m2x9qpa" });
  transport.check();
  vi.advanceTimersByTime(40);
  machine.answer({ type: "pong" });
  vi.advanceTimersByTime(TIMES.heartbeat + 30);
  machine.answer({ type: "pong" });
  expect(told).toEqual(["laptop-4k7m2x9qpa", 40, 30]);
});

test("a connection that lasts goes on by the token that replaced its own", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let token = "first";
  const { machine, said } = await connected({ token: () => token });
  const minutes = async (count: number) => {
    for (let tens = 0; tens < 6 * count; tens++) {
      await vi.advanceTimersByTimeAsync(10_000);
      machine.answer({ type: "pong" });
    }
  };
  const renewals = () => said.filter((frame) => "action" in frame && frame.action === "auth");
  await minutes(2);
  expect(renewals()).toEqual([]);
  token = "second";
  await minutes(3);
  expect(renewals()).toEqual([{ action: "auth", token: "second" }]);
  expect(machine.isCut).toBe(false);
});

interface Said {
  readonly id?: string;
  readonly opens?: { readonly stream: number; readonly credit: number };
}

const addressOf = (call: Said | undefined) => ({
  ...{ connection: "0000000000000000", bulk: false, stream: call?.opens?.stream ?? 0 },
});

/** How many listeners one signal had at most. */
function countListeners(): () => number {
  const listeners = new Map<EventTarget, number>();
  let most = 0;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const count = (target: EventTarget, change: number) => {
    if (!(target instanceof AbortSignal)) return;
    listeners.set(target, (listeners.get(target) ?? 0) + change);
    most = Math.max(most, listeners.get(target) ?? 0);
  };
  EventTarget.prototype.addEventListener = function (...args) {
    count(this, 1);
    addEventListener.apply(this, args);
  };
  EventTarget.prototype.removeEventListener = function (...args) {
    count(this, -1);
    removeEventListener.apply(this, args);
  };
  onTestFinished(() => {
    Object.assign(EventTarget.prototype, { addEventListener, removeEventListener });
  });
  return () => most;
}

/** A device on the other end of a connection. */
async function connected(options: Pick<ConnectionOptions, "token" | "onHello" | "onRoundTrip"> = {}) {
  const said: Said[] = [];
  let far: StreamEnd | undefined;
  let sentBytes = 0;
  let heard: SocketListener | undefined;
  let isCut = false;
  const transport = new SocketTransport({
    ...options,
    read: readFrame,
    dial: (_session, listener) => {
      heard = listener;
      queueMicrotask(listener.onOpen);
      return {
        send: (frame) => {
          if (typeof frame === "string") said.push(JSON.parse(frame));
          else far?.receive(decodeStreamFrame(frame));
        },
        ready: () => undefined,
        leftBytes: () => 0,
        close: () => undefined,
        cut: () => {
          isCut = true;
        },
      };
    },
  });
  onTestFinished(() => transport.close());
  await transport.connect();
  const machine = {
    get sentBytes() {
      return sentBytes;
    },
    get isCut() {
      return isCut;
    },
    answer: (frame: object) => heard?.onMessage(JSON.stringify(frame)),
    frame: (frame: Uint8Array<ArrayBuffer>) => heard?.onMessage(frame),
    vanish: (why: string) => heard?.onClose(why),
    serve: (call: Said | undefined) => {
      far = new StreamEnd({
        ...{ ...addressOf(call), side: "device", hop: "agent", window: CREDIT, frameBytes: 65_472 },
        credit: call?.opens?.credit ?? 0,
        send: (frame) => {
          sentBytes += frame.length;
          heard?.onMessage(frame);
        },
      });
      return far;
    },
  };
  /** Once the call is sent. */
  const open = async (options: StreamOptions, onEvent: (event: CallEvent) => void = () => undefined) => {
    const before = said.length;
    const opening = transport.open("TerminalAttach", { terminal: "term_0123456789" }, options, onEvent);
    opening.catch(() => undefined);
    await vi.waitUntil(() => said.length > before);
    return { opening, call: said.at(-1) };
  };
  return { transport, open, machine, said };
}
