import { MatrxError } from "@matrx/shared/errors.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import {
  costOf,
  creditOf,
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  type StreamFrame,
  type StreamKind,
  type StreamMessage,
} from "@matrx/shared/streams/frame.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const ADDRESS = { connection: "0123456789abcdef", stream: 1, bulk: false };
const KiB = 1024;
const WINDOW = 64 * KiB;
const GONE = { code: "DEVICE_OFFLINE", message: "The device disconnected", hop: "relay" } as const;

type Part = number | StreamMessage;

describe("two ends of a stream", () => {
  it("carry every byte and message in order, however they are cut, and never beyond the credit", async () => {
    const part: fc.Arbitrary<Part> = fc.oneof(
      fc.integer({ min: 1, max: 200_000 }),
      fc.record({ note: fc.integer() }),
    );
    const size = fc.integer({ min: 32 * KiB, max: 300_000 });
    const plan = {
      toDevice: fc.array(part, { maxLength: 8 }),
      toCaller: fc.array(part, { maxLength: 8 }),
      windows: fc.record({ caller: size, device: size }),
      frameBytes: fc.integer({ min: 1000, max: 100_000 }),
      turns: fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
    };
    await fc.assert(
      fc.asyncProperty(fc.record(plan), async ({ toDevice, toCaller, windows, frameBytes, turns }) => {
        const { caller, device } = joined(windows, frameBytes, turns);
        const [atDevice, atCaller] = await Promise.all([
          Promise.all([collected(device), sent(device, toCaller)]).then(async ([got]) => {
            await device.end({ done: true });
            return got;
          }),
          collected(caller),
          sent(caller, toDevice).then(() => caller.end()),
        ]);
        expect(atDevice).toEqual(asReceived(toDevice));
        expect(atCaller).toEqual(asReceived(toCaller));
        expect(caller.trailer).toEqual({ done: true });
      }),
      { numRuns: 60 },
    );
  });

  it("go on when the relay had less room than the caller wanted, and has said so", async () => {
    const { caller, device } = joined(
      { caller: 32 * KiB, device: WINDOW },
      16 * KiB,
      [true, false],
      1024 * KiB,
    );
    caller.receive({ ...ADDRESS, kind: "window", payload: creditPayload(32 * KiB) });
    const written = sent(device, [300_000]).then(() => device.end());
    expect(await collected(caller)).toEqual(asReceived([300_000]));
    await written;
  });

  it("believe no window that comes late, or is larger", () => {
    for (const { told, side } of [
      { told: WINDOW * 2, side: "caller" },
      { told: 32 * KiB, side: "device" },
    ] as const) {
      const end = joined({ caller: WINDOW, device: WINDOW })[side];
      end.receive({ ...ADDRESS, kind: "window", payload: creditPayload(told) });
      expect(end.signal.reason).toMatchObject({ code: "INVALID_MESSAGE" });
    }
    const { caller } = joined({ caller: WINDOW, device: WINDOW });
    caller.receive({ ...ADDRESS, kind: "data", payload: new Uint8Array(1) });
    caller.receive({ ...ADDRESS, kind: "window", payload: creditPayload(32 * KiB) });
    expect(caller.signal.reason).toMatchObject({ code: "INVALID_MESSAGE" });
  });

  it("stop sending at once when nobody reads, and go on when somebody does", async () => {
    const { caller, device, crossed } = joined({ caller: WINDOW, device: WINDOW }, 16 * KiB);
    const written = device.write(new Uint8Array(10 * WINDOW)).then(() => device.end());
    await settled();
    const unread = crossed("data");
    expect(unread).toBeLessThanOrEqual(WINDOW);
    expect(unread).toBeGreaterThan(WINDOW / 2);
    expect((await collected(caller)).bytes.length).toBe(10 * WINDOW);
    await written;
  });

  it("tell each other why they stop", async () => {
    const { caller, device } = joined({ caller: WINDOW, device: WINDOW });
    const reading = collected(caller);
    device.reset(GONE);
    await expect(reading).rejects.toMatchObject(GONE);
    await expect(caller.write(new Uint8Array(1))).rejects.toMatchObject({ code: "DEVICE_OFFLINE" });
    expect(device.signal.reason).toMatchObject(GONE);
  });

  it("deliver what came before a reset, so that an upload can be continued from there", async () => {
    const { caller, device } = joined({ caller: WINDOW, device: WINDOW });
    const got: number[] = [];
    const reading = (async () => {
      for await (const piece of device.incoming()) if (piece.kind === "data") got.push(piece.bytes.length);
    })();
    await caller.write(new Uint8Array(20_000));
    caller.reset(GONE);
    await expect(reading).rejects.toMatchObject(GONE);
    expect(got.reduce((sum, length) => sum + length, 0)).toBe(20_000);
  });

  it("wake a writer that waits for credit when the stream is lost", async () => {
    const { device } = joined({ caller: WINDOW, device: WINDOW });
    const writing = device.write(new Uint8Array(2 * WINDOW));
    await settled();
    device.lose(GONE);
    await expect(writing).rejects.toMatchObject(GONE);
    await expect(device.end()).rejects.toBeInstanceOf(MatrxError);
  });

  it("end for the caller too when the device has ended", async () => {
    const { caller, device } = joined({ caller: WINDOW, device: WINDOW });
    await device.end();
    await settled();
    await expect(caller.write(new Uint8Array(1))).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    expect(caller.trailer).toEqual({});
  });
});

describe("an end whose other end breaks the rules", () => {
  it.each([
    ["sends more than it had credit for", [["data", new Uint8Array(WINDOW)]]],
    ["sends many tiny pieces, which take memory too", Array(1025).fill(["data", new Uint8Array(1)])],
    ["sends data after its end", [["end"], ["data", new Uint8Array(1)]]],
    ["sends a message that is no JSON", [["message", Buffer.from("{")]]],
    ["gives no credit", [["credit", new Uint8Array(4)]]],
    ["ends with what is no JSON", [["end", Buffer.from("nonsense")]]],
    ["resets it without a reason", [["reset", Buffer.from("{}")]]],
  ] as [string, [StreamKind, Uint8Array?][]][])("%s: resets the stream", async (_what, frames) => {
    const answers: StreamFrame[] = [];
    const device = new StreamEnd({
      ...{ ...ADDRESS, side: "device", hop: "agent", frameBytes: 16 * KiB, window: WINDOW, credit: WINDOW },
      send: (frame) => answers.push(decodeStreamFrame(frame)),
    });
    const first = device.incoming().next();
    for (const [kind, payload = new Uint8Array()] of frames)
      device.receive(decodeStreamFrame(encodeStreamFrame(ADDRESS, kind, payload)));
    await first.catch(() => undefined);
    expect(answers.at(-1)?.kind).toBe("reset");
    expect(device.signal.reason).toMatchObject({ code: "INVALID_MESSAGE" });
  });

  it("survives any frames in any order", () => {
    const kind = fc.constantFrom<StreamKind>("data", "message", "credit", "end", "reset", "window");
    const payload = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.integer({ min: 1, max: 4 * KiB * KiB }).map(creditPayload),
      fc.constant(Buffer.from("{}")),
      fc.constant(errorPayload(GONE)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, payload), { maxLength: 40 }), fc.boolean(), (frames, isCaller) => {
        const end = new StreamEnd({
          ...{ ...ADDRESS, hop: "agent", frameBytes: KiB, window: WINDOW, credit: WINDOW },
          side: isCaller ? "caller" : "device",
          send: () => undefined,
        });
        for (const [kind, payload] of frames) {
          const frame = encodeStreamFrame(ADDRESS, kind, payload);
          if ((kind !== "credit" && kind !== "window") || payload.length === 4)
            end.receive(decodeStreamFrame(frame));
        }
      }),
    );
  });
});

/** Two ends over a connection that keeps each direction's order, and takes turns as told. The judge counts credit by itself. */
function joined(
  windows: { caller: number; device: number },
  frameBytes = 16 * KiB,
  turns: readonly boolean[] = [true, false],
  wanted = windows.caller,
) {
  const lanes = { toDevice: [] as Uint8Array[], toCaller: [] as Uint8Array[] };
  const credit = { toDevice: 0, toCaller: windows.caller };
  const crossed: StreamFrame[] = [];
  let turn = 0;
  let isPumping = false;
  const pump = () => {
    const isDevice = turns[turn++ % turns.length];
    const lane = isDevice ? lanes.toDevice : lanes.toCaller;
    const frame = lane.shift();
    if (frame) (isDevice ? device : caller).receive(decodeStreamFrame(frame));
    if (lanes.toDevice.length + lanes.toCaller.length > 0) setImmediate(pump);
    else isPumping = false;
  };
  const sender = (to: "toDevice" | "toCaller", back: "toDevice" | "toCaller") => (bytes: Uint8Array) => {
    const frame = decodeStreamFrame(bytes);
    crossed.push(frame);
    if (frame.kind === "credit") credit[back] += creditOf(frame);
    credit[to] -= costOf(frame.kind, frame.payload.length);
    expect(credit[to]).toBeGreaterThanOrEqual(0);
    lanes[to].push(bytes);
    if (!isPumping) setImmediate(pump);
    isPumping = true;
  };
  const options = { ...ADDRESS, frameBytes };
  const caller: StreamEnd = new StreamEnd({
    ...{ ...options, side: "caller", hop: "caller", window: wanted, credit: 0 },
    send: sender("toDevice", "toCaller"),
  });
  const device: StreamEnd = new StreamEnd({
    ...{ ...options, side: "device", hop: "agent", window: windows.device, credit: windows.caller },
    send: sender("toCaller", "toDevice"),
  });
  return {
    caller,
    device,
    crossed: (kind: StreamKind) =>
      crossed.filter((frame) => frame.kind === kind).reduce((sum, { payload }) => sum + payload.length, 0),
  };
}

/** Bytes count up, so that one that is lost, doubled or out of place shows. */
async function sent(end: StreamEnd, parts: readonly Part[]): Promise<void> {
  let next = 0;
  for (const part of parts) {
    if (typeof part !== "number") await end.send(part);
    else await end.write(counting(part, next));
    if (typeof part === "number") next += part;
  }
}

function asReceived(parts: readonly Part[]) {
  const length = parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? part : 0), 0);
  return {
    bytes: Buffer.from(counting(length, 0)),
    messages: parts.filter((part) => typeof part !== "number"),
  };
}

function counting(length: number, from: number): Uint8Array {
  return new Uint8Array(length).map((_, index) => (from + index) % 251);
}

async function collected(end: StreamEnd) {
  const bytes: Uint8Array[] = [];
  const messages: StreamMessage[] = [];
  for await (const piece of end.incoming()) {
    if (piece.kind === "data") bytes.push(piece.bytes);
    else messages.push(piece.message);
  }
  return { bytes: Buffer.concat(bytes), messages };
}

/** Until nothing more happens by itself. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}
