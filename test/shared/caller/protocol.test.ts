/** The caller link of one connection, over a host of which the test says how much is queued. */
import { CallerProtocol, type ConnectionPort, type UnansweredCall } from "@matrx/shared/caller/protocol.ts";
import { toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, SessionId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { encodeStreamFrame } from "@matrx/shared/streams/frame.ts";
import { expect, it } from "vitest";

const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75" as CallId;
const DEVICE = "home-0123456789" as DeviceId;

class Host implements ConnectionPort<UnansweredCall> {
  readonly hop = "agent";
  readonly log: string[] = [];
  isOpen = true;
  expires = Number.POSITIVE_INFINITY;
  queued = 0;
  queuedTogether = 0;
  closed: number | undefined;
  protocol: CallerProtocol<UnansweredCall> | undefined;
  readonly streams = {
    frame: () => void this.log.push("frame"),
    refuseFrame: (_frame: Uint8Array, { code }: ErrorShape) => void this.log.push(`refused: ${code}`),
  };

  countMessage(): void {}

  start(id: string): void {
    this.log.push(`start ${id}`);
    this.protocol?.expect(id, { call: `call of ${id}` as CallId, onClose: "goes_on" });
  }

  cancel(call: CallId): void {
    this.log.push(`cancel ${call}`);
  }

  settled({ call }: UnansweredCall): void {
    this.log.push(`settled ${call}`);
  }

  abandon({ call }: UnansweredCall): void {
    this.log.push(`abandon ${call}`);
  }

  async renew(token: string): Promise<void> {
    throw new MatrxError({ code: "UNAUTHENTICATED", message: `not ${token}`, hop: "agent" });
  }

  subscribeToEvents(after: string | undefined): void {
    this.log.push(`events ${after}`);
  }

  errorShape(error: unknown) {
    if (!(error instanceof MatrxError)) throw error;
    return error.shape();
  }

  close(code: number): void {
    this.closed = code;
    this.isOpen = false;
  }
}

function connection(isV1 = false) {
  const host = new Host();
  const sent: string[] = [];
  let left = 0;
  const send = (data: string | Uint8Array, hasLeft?: () => void) => {
    sent.push(typeof data === "string" ? data : Buffer.from(data).toString());
    hasLeft?.();
  };
  const protocol = new CallerProtocol(host, send, isV1);
  host.protocol = protocol;
  return {
    ...{ host, protocol, sent, log: host.log },
    frames: () => sent.splice(0).map((text) => toCallerSchema.parse(JSON.parse(text))),
    say: (frame: unknown) => protocol.message(JSON.stringify(frame), Date.now()),
    hasLeft: () => void left++,
    left: () => left,
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

it("tells of live output that was left out before the answer too, when no more came", () => {
  const { host, protocol, sent, say } = connection();
  say({ id: "1", tool: "Bash" });
  expect(protocol.output("1", bytes("x".repeat(300_000)), 0)).toBe(true);
  host.queued = LIMITS.callerQueueBytes + 1;
  expect(protocol.output("1", bytes("lost"), 0)).toBe(false);
  protocol.answer("1", bytes('{"id":"1"}'), 1);
  expect(sent.slice(1)).toEqual(['{"id":"1","type":"gap","frames":1}', '{"id":"1"}']);
});

it("tells of it before the next output that comes through", () => {
  const { protocol, sent, say } = connection();
  say({ id: "1", tool: "Bash" });
  expect(protocol.output("1", bytes("next"), 2)).toBe(true);
  expect(sent).toEqual(['{"id":"1","type":"gap","frames":2}', "next"]);
});

it("answers an id once, and then the id is free", () => {
  const { protocol, sent, say, log, hasLeft, left } = connection();
  say({ id: "1", tool: "Read" });
  protocol.answer("1", bytes("first"), 0, hasLeft);
  protocol.answer("1", bytes("second"), 0, hasLeft);
  protocol.refuse("1", { code: "TIMEOUT", message: "late", hop: "relay" }, CALL, DEVICE);
  expect(sent).toEqual(["first"]);
  expect(left()).toBe(2);
  say({ id: "1", tool: "Read" });
  expect(log).toEqual(["start 1", "settled call of 1", "start 1"]);
});

it("a refusal of the host names call and device", () => {
  const { protocol, frames, say } = connection();
  say({ id: "1", tool: "Read" });
  protocol.refuse("1", { code: "TIMEOUT", message: "late", hint: "Wait", hop: "relay" }, CALL, DEVICE);
  expect(frames()).toEqual([
    {
      id: "1",
      type: "error",
      output: "late",
      call: CALL,
      device: DEVICE,
      code: "TIMEOUT",
      hint: "Wait",
      hop: "relay",
    },
  ]);
});

it("is closed when too much is queued for its grant, though little is for itself", () => {
  const { host, protocol, sent, say, hasLeft, left } = connection();
  host.queuedTogether = LIMITS.callerQueueMaxBytes;
  const large = bytes("x".repeat(300_000));
  for (const id of ["1", "2", "3"]) say({ id, tool: "Read" });
  protocol.answer("1", large, 0);
  expect(sent).toHaveLength(1);
  host.queuedTogether += 1;
  protocol.answer("2", large, 0, hasLeft);
  expect(sent).toHaveLength(1);
  expect(host.closed).toBe(1013);
  protocol.answer("3", large, 0, hasLeft);
  expect(sent).toHaveLength(1);
  expect(left()).toBe(2);
});

it("refuses an id that is unanswered, and a 65th call, and begins neither", () => {
  const { frames, say, log } = connection();
  for (let n = 0; n < LIMITS.unansweredPerSession; n++) say({ id: `${n}`, tool: "Read" });
  say({ id: "0", tool: "Read" });
  say({ id: "more", tool: "Read" });
  expect(frames()).toMatchObject([
    { id: "0", code: "CONFLICT", hop: "agent" },
    { id: "more", code: "RATE_LIMITED", metadata: { limit: 64 } },
  ]);
  expect(log).toHaveLength(LIMITS.unansweredPerSession);
});

it.each(["x", "家"])(
  "refuses ids that together are more than can be kept, each %s counted in bytes",
  (char) => {
    const { frames, say, log } = connection();
    const size = char === "x" ? 1 : 2;
    const most = Math.floor(LIMITS.unansweredIdBytes / (size * 128));
    expect(most).toBeLessThanOrEqual(72);
    const ids = Array.from({ length: most + 1 }, (_, n) => `${n}`.padEnd(128, char));
    for (const id of ids) say({ id, tool: "Read" });
    const refused = frames().map((frame) => "id" in frame && frame.id);
    expect(refused).toEqual(ids.slice(Math.min(most, LIMITS.unansweredPerSession)));
    expect(log).toHaveLength(Math.min(most, LIMITS.unansweredPerSession));
  },
);

it("cancels one, all, or none, and abandons what is unanswered at the end", () => {
  const { protocol, frames, say, log } = connection();
  for (const id of ["a", "b", "c"]) say({ id, tool: "Read" });
  log.splice(0);
  say({ action: "cancel", id: "b" });
  say({ action: "cancel", id: "nobody" });
  protocol.answer("b", bytes("{}"), 0);
  say({ action: "cancel_all" });
  protocol.closed();
  expect(log).toEqual([
    "cancel call of b",
    "settled call of b",
    "cancel call of a",
    "cancel call of c",
    "abandon call of a",
    "abandon call of c",
  ]);
  expect(() => frames()).toThrow();
});

it("after its token's end only a new token is heard", async () => {
  const { host, frames, say, log } = connection(true);
  host.expires = Date.now();
  say({ id: "1", tool: "Read" });
  say({ action: "ping" });
  expect(frames()).toMatchObject([
    { id: "1", code: "UNAUTHENTICATED" },
    { id: null, code: "UNAUTHENTICATED" },
  ]);
  say({ action: "auth", token: "another" });
  await new Promise(setImmediate);
  expect(frames()).toMatchObject([{ id: null, code: "UNAUTHENTICATED", output: "not another" }]);
  expect(log).toEqual([]);
});

it("gives events to those alone who chose matrx.v1, who are greeted", () => {
  const old = connection();
  old.protocol.greet("0123456789abcdef" as SessionId, DEVICE);
  old.say({ action: "events" });
  expect(old.frames()).toMatchObject([{ id: null, code: "INVALID_PARAMETERS" }]);
  const v1 = connection(true);
  v1.protocol.greet("0123456789abcdef" as SessionId, DEVICE);
  v1.say({ action: "events" });
  expect(v1.frames()).toEqual([{ type: "hello", protocol: 1, session: "0123456789abcdef", device: DEVICE }]);
  expect([...old.log, ...v1.log]).toEqual(["events undefined"]);
});

it("answers what it cannot read in the host's name, under its id where that could be read", () => {
  const { protocol, frames, say } = connection();
  protocol.message("{", Date.now());
  protocol.message(bytes("{}"), Date.now());
  say({ id: "1", tool: 7 });
  say({ action: "dance" });
  expect(frames()).toMatchObject([
    { id: null, code: "INVALID_MESSAGE", hop: "agent" },
    { id: null, code: "INVALID_MESSAGE", hop: "agent" },
    { id: "1", code: "INVALID_PARAMETERS", hop: "agent", metadata: { field: "tool", id: "1" } },
    { id: null, code: "INVALID_PARAMETERS", hop: "agent" },
  ]);
});

it("ends the stream of a frame that comes after the token has expired, as what follows would have a hole", () => {
  const { host, protocol, log, frames } = connection(true);
  const frame = encodeStreamFrame({ connection: "0".repeat(16), stream: 1, bulk: false }, "data", bytes("x"));
  protocol.message(frame, 1000);
  host.expires = 2000;
  protocol.message(frame, 2000);
  expect(log).toEqual(["frame", "refused: UNAUTHENTICATED"]);
  expect(frames()).toEqual([]);
});
