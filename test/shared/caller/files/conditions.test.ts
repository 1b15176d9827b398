import { isConditional, preconditionStatus, rangeOf } from "@matrx/shared/caller/files/conditions.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const CHANGED = Date.parse("2026-11-23T10:00:00.500Z");
const VERSION = { etag: "abc", modified: CHANGED };
const SAME = "Mon, 23 Nov 2026 10:00:00 GMT";
const BEFORE = "Mon, 23 Nov 2026 09:59:59 GMT";

describe("a request that depends on the version (RFC 9110, 13.2.2)", () => {
  it.each([
    [{}, undefined],
    [{ "If-None-Match": '"abc"' }, 304],
    [{ "If-None-Match": 'W/"abc"' }, 304],
    [{ "If-None-Match": '"x", "abc"' }, 304],
    [{ "If-None-Match": "*" }, 304],
    [{ "If-None-Match": '"x"' }, undefined],
    [{ "If-None-Match": "abc" }, undefined],
    [{ "If-None-Match": '"x"', "If-Modified-Since": SAME }, undefined],
    [{ "If-Modified-Since": SAME }, 304],
    [{ "If-Modified-Since": BEFORE }, undefined],
    [{ "If-Modified-Since": "yesterday" }, undefined],
    [{ "If-Match": '"abc"' }, undefined],
    [{ "If-Match": 'W/"abc"' }, 412],
    [{ "If-Match": '"x"' }, 412],
    [{ "If-Match": "*" }, undefined],
    [{ "If-Match": '"x"', "If-None-Match": '"abc"' }, 412],
    [{ "If-Unmodified-Since": SAME }, undefined],
    [{ "If-Unmodified-Since": BEFORE }, 412],
    [{ "If-Unmodified-Since": "never" }, undefined],
    [{ "If-Match": '"abc"', "If-Unmodified-Since": BEFORE }, undefined],
  ] as [Record<string, string>, number | undefined][])("%j: %s", (headers, status) => {
    expect(preconditionStatus(new Headers(headers), VERSION)).toBe(status);
  });

  it("of a folder, which has no entity tag, goes by its time alone", () => {
    const folder = { modified: CHANGED };
    expect(preconditionStatus(new Headers({ "If-None-Match": '"abc"' }), folder)).toBeUndefined();
    expect(preconditionStatus(new Headers({ "If-Match": '"abc"' }), folder)).toBe(412);
    expect(preconditionStatus(new Headers({ "If-Modified-Since": SAME }), folder)).toBe(304);
  });

  it("is known by its headers", () => {
    expect(isConditional(new Headers())).toBe(false);
    expect(isConditional(new Headers({ Range: "bytes=0-" }))).toBe(true);
  });
});

describe("a range of 1000 bytes (RFC 9110, 14.1.2)", () => {
  it.each([
    ["bytes=0-499", { offset: 0, length: 500 }],
    ["bytes=500-", { offset: 500, length: 500 }],
    ["bytes=-1", { offset: 999, length: 1 }],
    ["bytes=-2000", { offset: 0, length: 1000 }],
    ["bytes=999-5000", { offset: 999, length: 1 }],
    ["bytes=0-0", { offset: 0, length: 1 }],
    ["bytes=1000-", "none"],
    ["bytes=-0", "none"],
    ["bytes=5-4", "whole"],
    ["bytes=0-1,5-6", "whole"],
    ["bytes=", "whole"],
    ["bytes=-", "whole"],
    ["bytes=a-b", "whole"],
    ["items=0-1", "whole"],
    ["bytes=99999999999999999999-", "whole"],
  ] as [string, unknown][])("%s", (range, wanted) => {
    expect(rangeOf(new Headers({ Range: range }), VERSION, 1000)).toEqual(wanted);
  });

  it("counts only for the version that If-Range names by its entity tag", () => {
    const range = (ifRange: string) =>
      rangeOf(new Headers({ Range: "bytes=0-1", "If-Range": ifRange }), VERSION, 1000);
    expect(range('"abc"')).toEqual({ offset: 0, length: 2 });
    for (const other of ['W/"abc"', '"x"', SAME, "nonsense", "*", '"x", "abc"'])
      expect(range(other), other).toBe("whole");
  });

  it("lies within the file, whatever is asked for", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat({ max: 5000 }), (first, last, size) => {
        const range = rangeOf(new Headers({ Range: `bytes=${first}-${last}` }), VERSION, size);
        if (typeof range === "string") return;
        expect(range.offset).toBe(first);
        expect(range.length).toBe(Math.min(last, size - 1) - first + 1);
        expect(range.length).toBeGreaterThan(0);
      }),
    );
  });
});
