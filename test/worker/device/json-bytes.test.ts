import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outlineOf } from "../../../worker/device/json-bytes.ts";

const encoder = new TextEncoder();

/** At any place in a larger buffer. */
function outline(text: string): string | undefined {
  const bytes = encoder.encode(text);
  const outlines = [0, 1, 2, 3].map((before) => {
    const buffer = new Uint8Array(before + bytes.length + 9).fill(34);
    buffer.set(bytes, before);
    return outlineOf(buffer.subarray(before, before + bytes.length), 0);
  });
  for (const other of outlines) expect(other).toBe(outlines[0]);
  return outlines[0];
}

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}

/** The same value, with `""` for each text and name whose JSON is long. */
function shortened(value: unknown): unknown {
  const short = (text: string) => (encoder.encode(JSON.stringify(text)).length > 256 ? "" : text);
  if (typeof value === "string") return short(value);
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [short(name), shortened(inner)] as const);
  return Object.fromEntries(entries);
}

describe("the outline of JSON", () => {
  const texts = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary", minLength: 80, maxLength: 400 }),
  );
  const values = fc.oneof(
    fc.array(texts),
    fc.dictionary(fc.string({ unit: "grapheme" }), fc.oneof(texts, fc.integer())),
    fc.jsonValue(),
  );

  it("is the JSON with its long texts left out", () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = outline(JSON.stringify(value));
        expect(JSON.parse(text ?? "")).toEqual(JSON.parse(JSON.stringify(shortened(value))));
      }),
    );
  });

  it("of what is not JSON is not JSON either", () => {
    const change = fc.record({
      at: fc.nat(),
      with: fc.constantFrom('"', "\\", "\n", "u", ",", "}", "x", ""),
    });
    fc.assert(
      fc.property(values, fc.array(change, { minLength: 1, maxLength: 3 }), (value, changes) => {
        let text = JSON.stringify(value);
        for (const { at, with: other } of changes) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + other + text.slice(place + 1);
        }
        expect(isJson(outline(text))).toBe(isJson(text));
      }),
      { numRuns: 1000 },
    );
  });

  it("of a text of many escapes ends where the text does", () => {
    const long = fc.array(fc.constantFrom("\\", '"', "\n", "é", "plain "), {
      minLength: 20_000,
      maxLength: 20_100,
    });
    fc.assert(
      fc.property(long, (parts) => {
        expect(outline(JSON.stringify({ text: parts.join(""), after: 1 }))).toBe('{"text":"","after":1}');
      }),
      { numRuns: 20 },
    );
  });

  it("of a picture is short", () => {
    const picture = { image: { media_type: "image/png", base64_data: "A".repeat(5_000_000) }, metadata: {} };
    expect(outline(JSON.stringify(picture))).toBe(
      '{"image":{"media_type":"image/png","base64_data":""},"metadata":{}}',
    );
  });
});
