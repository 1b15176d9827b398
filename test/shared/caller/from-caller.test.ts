import { actionSchema, callSchema, parseCallerFrame } from "@matrx/shared/caller/from-caller.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isLongerThan, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";

/** What a parser throws, which must be a MatrxError; undefined: nothing. */
function refusalOf(parse: () => unknown): MatrxError | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof MatrxError) return error;
    throw error;
  }
}

/** Any UTF-16, lone surrogates too. */
const anyText = fc.uint16Array({ maxLength: 60 }).map((units) => String.fromCharCode(...units));
const names = fc.constantFrom(
  "id",
  "tool",
  "input",
  "action",
  "token",
  "timeout_ms",
  "stream",
  "__proto__",
  "x",
);
/** Objects that are almost frames. */
const almostFrames = fc.dictionary(
  names,
  fc.oneof(fc.jsonValue(), fc.constantFrom("cancel", "cancel_all", "ping", "auth", "Bash", "req-1", 1, true)),
);

describe("a caller's frame", () => {
  it.each([
    ['{"id":"1","tool":"SystemInfo","input":{}}', { id: "1", tool: "SystemInfo", input: {} }],
    ['{"id":"1","tool":"SystemInfo"}', { id: "1", tool: "SystemInfo", input: {} }],
    ['{"tool":"Read","input":{"a":[null]},"newer":1}', { tool: "Read", input: { a: [null] } }],
    [' {"tool":"Read","timeout_ms":600000}\n', { tool: "Read", input: {}, timeout_ms: 600_000 }],
  ])("%s is a call", (text, call) => {
    expect(parseCallerFrame(text)).toEqual({ kind: "call", call });
  });

  it.each([
    '{"id":"1","action":"cancel"}',
    '{"action":"cancel_all"}',
    '{"action":"ping"}',
    '{"action":"auth","token":"x"}',
  ])("%s is an action", (text) => {
    expect(parseCallerFrame(text)).toEqual({ kind: "action", action: JSON.parse(text) });
  });

  it.each(["", "ping", "{", "null", "1", '"x"', "[]", '[{"tool":"Read"}]', "\u0000", "{}{}"])(
    "%j is no message",
    (text) => {
      const refusal = refusalOf(() => parseCallerFrame(text));
      expect(refusal).toMatchObject({ code: "INVALID_MESSAGE", hop: "relay" });
      expect(refusal?.hint).toContain("SystemInfo");
    },
  );

  it.each([
    ['{"id":"1"}', "tool", "1"],
    ['{"id":"1","tool":7}', "tool", "1"],
    ['{"id":"1","tool":"Read","input":[]}', "input", "1"],
    ['{"id":"1","tool":"Read","timeout_ms":600001}', "timeout_ms", "1"],
    ['{"id":"1","tool":"Read","timeout_ms":0}', "timeout_ms", "1"],
    ['{"id":"1","tool":"Read","timeout_ms":1.5}', "timeout_ms", "1"],
    ['{"id":"1","tool":"Read","idempotency_key":""}', "idempotency_key", "1"],
    ['{"id":"1","tool":"Read","queue_for":60}', "queue_for", "1"],
    ['{"id":1,"tool":"Read"}', "id", undefined],
    [`{"id":"${"x".repeat(129)}","tool":"Read"}`, "id", undefined],
    ['{"id":"1","action":"cancel_everything"}', "action", "1"],
    ['{"action":"cancel"}', "id", undefined],
    ['{"action":"auth","token":""}', "token", undefined],
  ])("%s is refused by its field, under its id", (text, field, id) => {
    const refusal = refusalOf(() => parseCallerFrame(text));
    expect(refusal).toMatchObject({ code: "INVALID_PARAMETERS", details: { field } });
    expect(refusal?.message.startsWith(`${field}: `)).toBe(true);
    expect(refusal?.details?.id).toBe(id);
  });

  it("is read or refused, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.json(),
          almostFrames.map((frame) => JSON.stringify(frame)),
        ),
        (text) => {
          refusalOf(() => parseCallerFrame(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is the same after a second reading", () => {
    fc.assert(
      fc.property(almostFrames, (frame) => {
        let once: ReturnType<typeof parseCallerFrame> | undefined;
        const text = JSON.stringify(frame);
        if (refusalOf(() => (once = parseCallerFrame(text)))) return;
        const read = once?.kind === "call" ? once.call : once?.action;
        expect(parseCallerFrame(JSON.stringify(read))).toEqual(once);
      }),
    );
  });

  it("pollutes no prototype", () => {
    parseCallerFrame(
      '{"id":"1","tool":"Read","input":{"__proto__":{"polluted":1}},"__proto__":{"stream":true}}',
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(parseCallerFrame('{"tool":"Read","__proto__":{"stream":true}}')).toEqual({
      kind: "call",
      call: { tool: "Read", input: {} },
    });
  });

  it("may have the longest id and deadline that are allowed", () => {
    const call = { id: "x".repeat(LIMITS.callerIdChars), tool: "Read", input: {}, timeout_ms: TIMES.callMax };
    expect(callSchema.parse(call)).toEqual(call);
    expect(actionSchema.safeParse({ action: "cancel", id: `${call.id}x` }).success).toBe(false);
  });
});

describe("the size", () => {
  const encoded = (text: string) => new TextEncoder().encode(text).length;

  it("is counted in bytes of UTF-8", () => {
    fc.assert(
      fc.property(anyText, fc.nat(200), (text, limit) => {
        expect(isLongerThan(text, limit)).toBe(encoded(text) > limit);
      }),
    );
    expect(isLongerThan("\ud800", 2)).toBe(true);
    expect(isLongerThan("€", 3)).toBe(false);
  });

  it("is checked before the text is read", () => {
    const refusal = refusalOf(() => parseJsonObject(`{"a":"${"€".repeat(4)}`, 12));
    expect(refusal).toMatchObject({ code: "PAYLOAD_TOO_LARGE", details: { limit_bytes: 12 } });
  });

  it.each([
    [LIMITS.callFrameBytes, undefined],
    [LIMITS.callFrameBytes + 1, "PAYLOAD_TOO_LARGE"],
  ])("of a call may be %i bytes: %s", (bytes, code) => {
    const empty = '{"id":"1","tool":"Write","input":{"content":""}}';
    const text = empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
    expect(text.length).toBe(bytes);
    expect(refusalOf(() => parseCallerFrame(text))?.code).toBe(code);
  });
});

describe("the depth", () => {
  /** Slow and plain: levels of objects and arrays, the outermost is one. */
  function depthOf(value: unknown): number {
    if (typeof value !== "object" || value === null) return 0;
    return 1 + Math.max(0, ...Object.values(value).map(depthOf));
  }

  const texts = fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", "[", "]", "a", "€", "\n") });
  /** Deep values with strings full of what looks like structure. */
  const values = fc
    .tuple(fc.array(fc.tuple(fc.boolean(), texts), { minLength: 50, maxLength: 80 }), texts)
    .map(([levels, text]) =>
      levels.reduce<unknown>(
        (inner, [array, key]) => (array ? [key, inner, text] : { [`k${key}`]: inner, z: text }),
        text,
      ),
    );

  it("is refused exactly past the limit", () => {
    fc.assert(
      fc.property(values, (inner) => {
        const value = { inner };
        const refusal = refusalOf(() => parseJsonObject(JSON.stringify(value), LIMITS.callFrameBytes));
        expect(refusal?.code).toBe(depthOf(value) > LIMITS.depth ? "INVALID_MESSAGE" : undefined);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["with spaces", (levels: number) => `{"a":${"[ ".repeat(levels)}${" ]".repeat(levels)}}`],
    ["without", (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`],
    [
      "after much else",
      (levels: number) => `{"s":"${"[".repeat(999)}\\"","a":${"[".repeat(levels)}${"]".repeat(levels)}}`,
    ],
  ])("is 64 and not 65: %s", (_name, textOf) => {
    expect(refusalOf(() => parseJsonObject(textOf(63), 1e6))).toBeUndefined();
    expect(refusalOf(() => parseJsonObject(textOf(64), 1e6))?.code).toBe("INVALID_MESSAGE");
  });

  it("of four MiB of brackets is refused before it is parsed", () => {
    const levels = LIMITS.callFrameBytes / 2 - 8;
    const text = `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    expect(refusalOf(() => parseCallerFrame(text))?.code).toBe("INVALID_MESSAGE");
    expect(parse).not.toHaveBeenCalled();
  });

  it.each([
    ["backslashes", "\\\\".repeat(1_000_000)],
    ["quotes", '\\"'.repeat(1_000_000)],
  ])("of a long string of %s is looked up in one pass", (_name, inside) => {
    expect(parseJsonObject(`{"a":"${inside}"}`, LIMITS.callFrameBytes)).toHaveProperty("a");
  });
});
