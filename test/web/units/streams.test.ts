/** The app's client of streams, against the frames that docs/protocol.md describes. */
import { expect, test } from "vitest";
import { StreamEnd } from "../../../shared/streams/endpoint.ts";
import { decodeStreamFrame, encodeStreamFrame } from "../../../shared/streams/frame.ts";
import type { LiveSocket } from "../../../web/src/relay/live-socket.ts";
import { DeviceSocket, type Dial, frameOf } from "../../../web/src/relay/streams/device-socket.ts";

const CREDIT = 64 * 1024;

test("a call opens a stream, whose bytes go both ways as there is credit", async () => {
  const { socket, machine, said } = await connected();
  const opening = socket.open("TerminalAttach", { terminal: "term_0123456789" }, { credit: CREDIT });
  const call = said.at(-1);
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

test("the example of the protocol is data of stream 7", () => {
  const hex = "10 01 23 45 67 89 ab cd ef 00 00 00 07 68 65 6c 6c 6f";
  const bytes = Uint8Array.from(hex.split(" "), (byte) => Number.parseInt(byte, 16));
  expect(frameOf(bytes.buffer)).toMatchObject({ type: "stream", frame: { kind: "data", stream: 7 } });
  expect(frameOf(new Uint8Array([99, 1]).buffer)).toBeUndefined();
  expect(frameOf(new Uint8Array([16, 1]).buffer)).toBeUndefined();
  expect(frameOf("{ not JSON")).toBeUndefined();
});

test("a call that is refused opens none, and says why", async () => {
  const { socket, machine, said } = await connected();
  const opening = socket.open("TerminalAttach", {}, { credit: CREDIT });
  const refusal = { code: "NOT_FOUND", output: "No terminal", hop: "tool" };
  machine.answer({ id: said.at(-1)?.id, type: "error", ...refusal });
  await expect(opening).rejects.toMatchObject({ code: "NOT_FOUND", message: "No terminal", hop: "tool" });
});

test("a lost connection ends calls and streams, and leaving resets a stream", async () => {
  const { socket, machine, said } = await connected();
  const leaving = new AbortController();
  const opening = socket.open("TerminalAttach", {}, { credit: CREDIT, signal: leaving.signal });
  const far = machine.serve(said.at(-1));
  machine.answer({ id: said.at(-1)?.id, type: "success", output: "" });
  const { stream } = await opening;
  leaving.abort();
  expect(stream.signal.aborted).toBe(true);
  expect(far.signal.reason).toMatchObject({ code: "CANCELLED" });
  const listing = socket.call("TerminalList", {});
  machine.vanish();
  await expect(listing).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(socket.call("TerminalList", {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(socket.signal.aborted).toBe(true);
});

test("a machine that sends more than it may is stopped", async () => {
  const { socket, machine, said } = await connected();
  const opening = socket.open("TerminalAttach", {}, { credit: 32 * 1024 });
  machine.answer({ id: said.at(-1)?.id, type: "success", output: "" });
  const { stream } = await opening;
  machine.frame(encodeStreamFrame(addressOf(said.at(-1)), "data", new Uint8Array(33 * 1024)));
  expect(stream.signal.reason).toMatchObject({ code: "INVALID_MESSAGE" });
});

test("a stream that is over is held by nobody's signal any more", async () => {
  const { socket, machine, said } = await connected();
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
  const opening = socket.open("TerminalAttach", {}, { credit: CREDIT, signal: counted });
  const far = machine.serve(said.at(-1));
  machine.answer({ id: said.at(-1)?.id, type: "success", output: "" });
  await opening;
  expect(listening).toBe(1);
  await far.end();
  expect(listening).toBe(0);
});

interface Said {
  readonly id?: string;
  readonly opens?: { readonly stream: number; readonly credit: number };
}

const addressOf = (call: Said | undefined) => ({
  ...{ connection: "0000000000000000", bulk: false, stream: call?.opens?.stream ?? 0 },
});

/** A connection whose other end is in this test. */
async function connected() {
  const said: Said[] = [];
  let far: StreamEnd | undefined;
  let sentBytes = 0;
  let listener: Parameters<Dial>[0] | undefined;
  const socket: LiveSocket = {
    send: (frame) => {
      if (typeof frame === "string") said.push(JSON.parse(frame));
      else far?.receive(decodeStreamFrame(frame));
      return true;
    },
    check: () => undefined,
    close: () => undefined,
  };
  const take = (data: unknown) => {
    const frame = frameOf(data);
    if (frame) listener?.onFrame(frame);
  };
  const opening = DeviceSocket.open("laptop", async (heard) => {
    listener = heard;
    return socket;
  });
  await Promise.resolve();
  take('{"type":"hello","protocol":1}');
  const machine = {
    get sentBytes() {
      return sentBytes;
    },
    answer: (frame: object) => take(JSON.stringify(frame)),
    frame: (frame: Uint8Array<ArrayBuffer>) => take(frame.buffer),
    vanish: () => listener?.onEnd(),
    serve: (call: Said | undefined) => {
      far = new StreamEnd({
        ...{ ...addressOf(call), side: "device", hop: "agent", window: CREDIT, frameBytes: 65_472 },
        credit: call?.opens?.credit ?? 0,
        send: (frame) => {
          sentBytes += frame.length;
          take(frame.buffer);
        },
      });
      return far;
    },
  };
  return { socket: await opening, machine, said };
}
