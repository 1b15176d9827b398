import { ERROR_CODES, MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import {
  type AgentFrame,
  decodeAgentFrame,
  encodeOutputFrame,
  encodeResultFrame,
  type ResultHeader,
} from "@matrx/shared/result-frame.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

function decode(bytes: Uint8Array): AgentFrame {
  return decodeAgentFrame(new Uint8Array(bytes).buffer);
}

function refusalOf(bytes: Uint8Array): MatrxError | undefined {
  try {
    decode(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof MatrxError) return error;
    throw error;
  }
}

/** A frame of any kind whose header is this text. */
function frameOf(kind: number, header: string, body = ""): Uint8Array {
  const head = Buffer.from(header);
  return Buffer.concat([Uint8Array.of(kind, head.length >> 8, head.length & 0xff), head, Buffer.from(body)]);
}

const headers: fc.Arbitrary<ResultHeader> = fc
  .record(
    {
      call: fc.string({ unit: "grapheme", maxLength: 20 }),
      tool: fc.string({ maxLength: 128 }),
      status: fc.constantFrom("success", "error", "cancelled"),
      code: fc.constantFrom(...ERROR_CODES),
      exit: fc.integer(),
      ms: fc.double({ min: 0, max: 1e9, noNaN: true }).map((ms) => ms + 0),
      sha256: fc.string({ maxLength: 64 }),
      preview: fc.string({ maxLength: 600 }),
    },
    { requiredKeys: ["call", "status", "ms"] },
  )
  .filter(({ call }) => call.length <= 64);
const bodies = fc.uint8Array({ maxLength: 300 });

describe("a frame of the agent", () => {
  it("comes out as it went in", () => {
    fc.assert(
      fc.property(headers, bodies, (header, body) => {
        const result = decode(encodeResultFrame(header, body));
        expect(result).toEqual({ kind: "result", header, body });
        const output = decode(encodeOutputFrame({ call: header.call }, body));
        expect(output).toEqual({ kind: "output", header: { call: header.call }, body });
      }),
    );
  });

  it("keeps its body as a view", () => {
    const frame = encodeResultFrame({ call: "c", status: "success", ms: 1 }, new Uint8Array(1000));
    expect(decodeAgentFrame(frame.buffer).body.buffer).toBe(frame.buffer);
  });

  it("is read or refused, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const refusal = refusalOf(bytes);
        if (refusal) expect(refusal.code).toBe("INVALID_MESSAGE");
      }),
      { numRuns: 5000 },
    );
  });

  it("is read or refused, whatever its header says", () => {
    const words = fc.constantFrom("call", "status", "ms", "code", "exit", "preview", "__proto__");
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom("success", 1, "TIMEOUT"));
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 3), fc.dictionary(words, values), (kind, header) => {
        const refusal = refusalOf(frameOf(kind, JSON.stringify(header)));
        if (refusal) expect(refusal.code).toBe("INVALID_MESSAGE");
      }),
      { numRuns: 500 },
    );
  });

  it("is refused when a byte of the header is lost", () => {
    const frame = encodeResultFrame({ call: "c", status: "success", ms: 1 }, new Uint8Array());
    for (let length = 0; length < frame.length; length++)
      expect(refusalOf(frame.subarray(0, length))?.message).toContain("cut short");
  });

  it.each([
    ["no bytes", new Uint8Array(), "cut short"],
    ["a kind that is not known", frameOf(3, '{"call":"c","status":"success","ms":1}'), "unknown kind 3"],
    ["kind 0", frameOf(0, "{}"), "unknown kind 0"],
    ["no JSON", frameOf(1, "{"), "not JSON"],
    ["an empty header", frameOf(1, ""), "not JSON"],
    ["a header that is not UTF-8", Uint8Array.of(1, 0, 3, 0x22, 0xff, 0x22), "not JSON"],
    ["a header with a byte order mark", frameOf(2, '\ufeff{"call":"c"}'), "not JSON"],
    ["a header that is no object", frameOf(1, "[]"), "wrong header"],
    ["no call", frameOf(2, "{}"), "wrong header: call"],
    ["an endless number", frameOf(1, '{"call":"c","status":"success","ms":1e999}'), "wrong header: ms"],
    [
      "a code that is not ours",
      frameOf(1, '{"call":"c","status":"error","ms":1,"code":"EIO"}'),
      "wrong header: code",
    ],
    ["a long call", frameOf(2, JSON.stringify({ call: "x".repeat(65) })), "wrong header: call"],
  ])("is refused with %s", (_what, bytes, why) => {
    expect(refusalOf(bytes)?.message).toContain(why);
  });

  it("has room for the largest header that the agent writes", () => {
    const header: ResultHeader = {
      call: "x".repeat(64),
      tool: "\u0001".repeat(128),
      status: "error",
      code: "TOOL_EXECUTION_FAILED",
      exit: -1,
      ms: 0.1,
      sha256: "f".repeat(64),
      preview: "\u0001".repeat(LIMITS.previewChars),
    };
    expect(decode(encodeResultFrame(header, new Uint8Array(1))).header).toEqual(header);
  });
});
