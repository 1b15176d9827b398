/** What the relay holds for streams stays bounded, whoever does not read. Queues stand in for sockets, which do not tell how full they will be. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type GrantId, makeConnectionId, makeGrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import {
  creditOf,
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  resetErrorOf,
  type StreamFrame,
  type StreamKind,
} from "@matrx/shared/streams/frame.ts";
import { expect, it, vi } from "vitest";
import { leaseOf } from "../../../worker/device/leases.ts";
import type { CallerConnection } from "../../../worker/device/streams/stream.ts";
import { Streams } from "../../../worker/device/streams/streams.ts";

const KiB = 1024;
const CREDIT = 64 * KiB;
const FULL = LIMITS.streamQueuedBytes + 1;

class Caller implements CallerConnection {
  readonly id = makeConnectionId();
  readonly lease;
  readonly got: StreamFrame[] = [];
  queued = 0;

  constructor(grant: GrantId = makeGrantId()) {
    const scope: GrantScope = { id: grant, owner: false, effects: ["read", "write", "execute"] };
    this.lease = leaseOf({ scope, version: 1, expires: Number.MAX_VALUE, until: Number.MAX_VALUE });
  }

  deliver(frame: Uint8Array<ArrayBuffer>): void {
    this.got.push(decodeStreamFrame(frame));
  }

  changed(): void {}
}

class Device {
  readonly got: StreamFrame[] = [];
  queued = 0;
  isFull = false;

  sendStream(frame: Uint8Array<ArrayBuffer>): void {
    this.got.push(decodeStreamFrame(frame));
  }

  queuedForStream(): number {
    return this.queued;
  }

  isStreamFull(): boolean {
    return this.isFull;
  }
}

function scene() {
  const device = new Device();
  const caller = new Caller();
  const streams = new Streams({ link: device, store: { record: undefined, policy: {} } });
  const frame = (kind: StreamKind, payload: Uint8Array) =>
    encodeStreamFrame({ connection: caller.id, stream: 1, bulk: false }, kind, payload);
  return {
    ...{ device, caller, streams },
    open: () => streams.open(caller, { stream: 1, credit: CREDIT }, "Read"),
    fromCaller: (kind: StreamKind, payload: Uint8Array) => streams.fromCaller(caller, frame(kind, payload)),
    fromDevice: (kind: StreamKind, payload: Uint8Array) => streams.fromDevice(frame(kind, payload)),
  };
}

it("holds back the credit of a caller that reads slowly, and passes it on as one", async () => {
  const { device, caller, open, fromCaller, fromDevice } = scene();
  open();
  caller.queued = FULL;
  for (let round = 0; round < 3; round++) {
    fromDevice("data", new Uint8Array(8 * KiB - 64));
    fromCaller("credit", creditPayload(8 * KiB));
  }
  expect(device.got).toEqual([]);
  caller.queued = 0;
  await vi.waitFor(() => expect(device.got.map(creditOf)).toEqual([24 * KiB]));
});

it("holds back the device's credit in the same way", async () => {
  const { device, caller, open, fromCaller, fromDevice } = scene();
  open();
  fromDevice("credit", creditPayload(CREDIT));
  device.queued = FULL;
  for (let round = 0; round < 3; round++) {
    fromCaller("data", new Uint8Array(8 * KiB - 64));
    fromDevice("credit", creditPayload(8 * KiB));
  }
  expect(caller.got.map(creditOf)).toEqual([CREDIT]);
  device.queued = 0;
  await vi.waitFor(() => expect(caller.got.map(creditOf)).toEqual([CREDIT, 24 * KiB]));
});

it("forgets credit that it holds back when the stream ends", async () => {
  const { device, caller, open, fromCaller, fromDevice } = scene();
  open();
  caller.queued = FULL;
  fromDevice("data", new Uint8Array(8 * KiB - 64));
  fromCaller("credit", creditPayload(8 * KiB));
  fromDevice("end", new Uint8Array());
  caller.queued = 0;
  open();
  fromDevice("data", new Uint8Array(8 * KiB - 64));
  fromCaller("credit", creditPayload(4 * KiB));
  await vi.waitFor(() => expect(device.got.map(creditOf)).toEqual([4 * KiB]));
});

it("takes one end of a caller, which costs no credit, and nothing after it", () => {
  for (const kind of ["end", "data", "message"] as const) {
    const { device, caller, open, fromCaller, fromDevice } = scene();
    open();
    fromDevice("credit", creditPayload(CREDIT));
    fromCaller("end", new Uint8Array());
    fromCaller(kind, new TextEncoder().encode("{}"));
    expect(device.got.map((frame) => frame.kind)).toEqual(["end", "reset"]);
    expect(resetErrorOf(caller.got.at(-1) as StreamFrame)).toMatchObject({ code: "INVALID_MESSAGE" });
    fromCaller("end", new Uint8Array());
    expect(device.got).toHaveLength(2);
  }
});

it("lets the device send and take credit after the caller's end", () => {
  const { device, caller, open, fromCaller, fromDevice } = scene();
  open();
  fromCaller("end", new Uint8Array());
  fromDevice("data", new Uint8Array(8 * KiB - 64));
  fromCaller("credit", creditPayload(8 * KiB));
  fromDevice("end", new Uint8Array());
  expect(device.got.map(({ kind }) => kind)).toEqual(["end", "credit"]);
  expect(caller.got.map(({ kind }) => kind)).toEqual(["data", "end"]);
});

it("ends a stream whose device gives credit without reading", () => {
  const { device, caller, open, fromCaller, fromDevice } = scene();
  open();
  fromDevice("credit", creditPayload(CREDIT));
  device.isFull = true;
  fromCaller("data", new Uint8Array(KiB));
  expect(caller.got.at(-1)).toMatchObject({ kind: "reset" });
  expect(device.got.map(resetErrorOf)).toMatchObject([{ code: "RATE_LIMITED" }]);
});

it("no longer answers data for unknown streams once its sender stops reading", () => {
  const { device, caller, fromCaller, fromDevice } = scene();
  fromCaller("data", new Uint8Array(1));
  expect(caller.got.map(resetErrorOf)).toMatchObject([{ code: "NOT_FOUND" }]);
  caller.queued = LIMITS.callerQueueBytes + 1;
  fromCaller("data", new Uint8Array(1));
  expect(caller.got).toHaveLength(1);
  fromDevice("message", new TextEncoder().encode("{}"));
  expect(device.got.map(resetErrorOf)).toMatchObject([{ code: "NOT_FOUND" }]);
  device.isFull = true;
  fromDevice("data", new Uint8Array(1));
  expect(device.got).toHaveLength(1);
});

it("tells a device that waits for data of an unknown stream, if it reads", () => {
  const { device, fromDevice } = scene();
  fromDevice("credit", creditPayload(CREDIT));
  device.isFull = true;
  fromDevice("credit", creditPayload(CREDIT));
  expect(device.got.map(resetErrorOf)).toMatchObject([{ code: "NOT_FOUND" }]);
});

it("never answers a caller's credit, ends and resets for unknown streams", () => {
  const { device, caller, fromCaller, fromDevice } = scene();
  fromCaller("credit", creditPayload(CREDIT));
  for (const send of [fromCaller, fromDevice]) {
    send("end", new Uint8Array());
    send("reset", new TextEncoder().encode("{}"));
  }
  expect([...caller.got, ...device.got]).toEqual([]);
});

it("keeps a share of the device for grants that have no stream yet", () => {
  const { streams } = scene();
  const credit = LIMITS.streamWindowMinBytes;
  const { byteStreamsPerConnection, byteStreamsPerGrant, byteStreamsPerDevice } = LIMITS;
  const openAll = (grant: GrantId, count: number) => {
    let caller = new Caller(grant);
    for (let at = 0; at < count; at++) {
      if (at % byteStreamsPerConnection === 0) caller = new Caller(grant);
      streams.open(caller, { stream: at + 1, credit }, "Read");
    }
  };
  const more = (grant: GrantId) => () => openAll(grant, 1);
  const grants = Array.from({ length: byteStreamsPerDevice / byteStreamsPerGrant - 1 }, () => makeGrantId());
  for (const grant of grants) openAll(grant, byteStreamsPerGrant);
  for (const grant of grants) expect(more(grant)).toThrow(/Too many streams/);
  const late = makeGrantId();
  openAll(late, 1);
  expect(more(late)).toThrow(/Too many streams/);
  expect(more(makeGrantId())).not.toThrow();
});

it("gives each of fifty viewers less as they grow, tells them, and refuses none", () => {
  const { streams } = scene();
  const MiB = 1024 * KiB;
  const grant = makeGrantId();
  const credits: number[] = [];
  let caller = new Caller(grant);
  for (let at = 0; at < 50; at++) {
    if (at % LIMITS.byteStreamsPerConnection === 0) caller = new Caller(grant);
    const { credit } = streams.open(caller, { stream: at + 1, credit: MiB, less: true }, "TerminalAttach");
    credits.push(credit);
    const told = caller.got.filter(({ stream }) => stream === at + 1);
    expect(told.map((frame) => [frame.kind, creditOf(frame)])).toEqual(
      credit < MiB ? [["window", credit]] : [],
    );
  }
  expect(credits.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => MiB));
  expect(credits).toEqual(credits.toSorted((a, b) => b - a));
  expect(credits.at(-1)).toBe(LIMITS.streamWindowMinBytes);
  const all = credits.reduce((sum, credit) => sum + credit, 0);
  expect(all).toBeLessThan(LIMITS.grantWindowBytes + 50 * LIMITS.streamWindowMinBytes);
  // Who cannot take less is refused only what there is no room for.
  expect(() => streams.open(new Caller(grant), { stream: 1, credit: MiB }, "Read")).toThrow(
    /too much credit/,
  );
});

it("alone says how large a window is", () => {
  for (const side of ["fromCaller", "fromDevice"] as const) {
    const { caller, device, open, ...from } = scene();
    open();
    from[side]("window", creditPayload(CREDIT));
    for (const { got } of [caller, device])
      expect(got.map(resetErrorOf)).toMatchObject([{ code: "INVALID_MESSAGE" }]);
  }
});

it("ends the stream of a frame that its caller may not send any more, and no other", () => {
  const { caller, device, streams, open } = scene();
  open();
  const frame = (stream: number) =>
    encodeStreamFrame({ connection: caller.id, stream, bulk: false }, "data", new Uint8Array(1));
  const why = { code: "UNAUTHENTICATED", message: "expired", hop: "relay" } as const;
  streams.refuseFrame(caller, frame(2), why);
  expect(caller.got).toEqual([]);
  streams.refuseFrame(caller, frame(1), why);
  expect(caller.got.map(resetErrorOf)).toEqual([why]);
  expect(device.got.map(resetErrorOf)).toEqual([why]);
});
