import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import {
  creditOf,
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  isStreamFrame,
  messageOf,
  messagePayload,
  resetErrorOf,
  STREAM_HEADER_BYTES,
  STREAM_MAX,
  type StreamKind,
  writeConnection,
} from "@matrx/shared/streams/frame.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const connection = fc
  .uint8Array({ minLength: 8, maxLength: 8 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));
const address = fc.record({
  connection,
  stream: fc.integer({ min: 1, max: STREAM_MAX }),
  bulk: fc.boolean(),
});
const ADDRESS = { connection: "0123456789abcdef", stream: 7, bulk: false };

describe("a stream frame", () => {
  it("says what was put into it, whatever its connection, number and bytes", () => {
    fc.assert(
      fc.property(address, fc.uint8Array({ minLength: 1, maxLength: 2000 }), (where, bytes) => {
        const frame = encodeStreamFrame(where, "data", bytes);
        expect(isStreamFrame(frame)).toBe(true);
        expect(decodeStreamFrame(frame)).toEqual({ ...where, kind: "data", payload: bytes });
      }),
    );
  });

  it("carries credit, messages, ends and resets", () => {
    const error = { code: "CONFLICT", message: "changed", hint: "again", hop: "tool" } as const;
    const read = (kind: StreamKind, payload: Uint8Array) =>
      decodeStreamFrame(encodeStreamFrame(ADDRESS, kind, payload));
    expect(creditOf(read("credit", creditPayload(65536)))).toBe(65536);
    expect(messageOf(read("message", messagePayload({ type: "resize", cols: 80 })))).toEqual({
      type: "resize",
      cols: 80,
    });
    expect(messageOf(read("end", new Uint8Array()))).toEqual({});
    expect(messageOf(read("end", messagePayload({ sha256: "ab" })))).toEqual({ sha256: "ab" });
    expect(resetErrorOf(read("reset", errorPayload(error)))).toEqual(error);
  });

  it("gets the relay's own connection in place of the caller's", () => {
    const frame = encodeStreamFrame(ADDRESS, "data", Buffer.from("x"));
    writeConnection(frame, "ffeeddccbbaa9988");
    expect(decodeStreamFrame(frame)).toMatchObject({ ...ADDRESS, connection: "ffeeddccbbaa9988" });
  });

  it("is not taken for a result or an output frame", () => {
    for (const kind of [0, 1, 2, 15, 22, 127, 128, 129, 150, 255])
      expect(isStreamFrame(Uint8Array.of(kind)), String(kind)).toBe(false);
    expect(isStreamFrame(new Uint8Array())).toBe(false);
  });

  it("cuts an error that does not fit into a reset", () => {
    const error = {
      code: "TOOL_EXECUTION_FAILED",
      message: "😀".repeat(5000),
      hint: "h".repeat(5000),
      hop: "tool",
      details: { list: "x".repeat(5000) },
    } as const;
    const payload = errorPayload(error);
    expect(payload.length).toBeLessThanOrEqual(LIMITS.streamMessageBytes);
    expect(resetErrorOf(decodeStreamFrame(encodeStreamFrame(ADDRESS, "reset", payload)))).toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      hop: "tool",
    });
  });

  const hostile: readonly (readonly [string, Uint8Array])[] = [
    ["nothing after the kind", Uint8Array.of(16)],
    ["half a header", new Uint8Array(STREAM_HEADER_BYTES - 1).fill(16)],
    ["stream 0", frameOf(16, 0, Buffer.from("x"))],
    ["a stream beyond 2^31", frameOf(16, 2 ** 31, Buffer.from("x"))],
    ["no data", frameOf(16, 1, Buffer.alloc(0))],
    ["too much data", frameOf(16, 1, Buffer.alloc(LIMITS.streamDataBytes + 1))],
    ["too long a message", frameOf(17, 1, Buffer.alloc(LIMITS.streamMessageBytes + 1, "x"))],
    ["credit of three bytes", frameOf(18, 1, Buffer.alloc(3, 1))],
    ["credit of five bytes", frameOf(18, 1, Buffer.alloc(5, 1))],
    ["another kind", frameOf(21, 1, Buffer.from("x"))],
  ];
  it.each(hostile)("with %s is refused", (_what, frame) => {
    expect(() => decodeStreamFrame(frame)).toThrow(MatrxError);
  });

  it.each([
    ["credit 0", () => creditOf(decodeStreamFrame(frameOf(18, 1, Buffer.alloc(4))))],
    ["4 GiB of credit", () => creditOf(decodeStreamFrame(frameOf(18, 1, Buffer.alloc(4, 255))))],
    ["a message that is no JSON", () => messageOf(decodeStreamFrame(frameOf(17, 1, Buffer.from("{"))))],
    ["a message that is a list", () => messageOf(decodeStreamFrame(frameOf(17, 1, Buffer.from("[]"))))],
    ["a message in Latin-1", () => messageOf(decodeStreamFrame(frameOf(17, 1, Buffer.from([0x22, 0xe9]))))],
    ["a reset without a code", () => resetErrorOf(decodeStreamFrame(frameOf(20, 1, Buffer.from("{}"))))],
  ])("with %s is refused where it is read", (_what, read) => {
    expect(read).toThrow(MatrxError);
  });

  it("is read, or refused with an error of ours, whatever the bytes", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 64 }),
        fc.constantFrom(16, 17, 18, 19, 20, 144),
        (bytes, kind) => {
          if (bytes.length > 0) bytes[0] = kind;
          try {
            const frame = decodeStreamFrame(bytes);
            if (frame.kind === "credit") creditOf(frame);
            else if (frame.kind === "reset") resetErrorOf(frame);
            else if (frame.kind !== "data") messageOf(frame);
          } catch (error) {
            expect(error).toBeInstanceOf(MatrxError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

function frameOf(kind: number, stream: number, payload: Buffer): Uint8Array {
  const header = Buffer.alloc(STREAM_HEADER_BYTES);
  header[0] = kind;
  header.writeUInt32BE(stream, 9);
  return Buffer.concat([header, payload]);
}
