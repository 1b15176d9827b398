import {
  callTime,
  hexOf,
  isCallId,
  isDeviceId,
  isSessionId,
  makeCallId,
  makeDeviceId,
  makeGrantId,
  makeSessionId,
  randomBase32,
} from "@matrx/shared/ids.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** Any UTF-16, lone surrogates too. */
const anyText = fc.uint16Array({ maxLength: 40 }).map((units) => String.fromCharCode(...units));

describe("a device's id", () => {
  it.each([
    ["NJSCH-LAPTOP", "njsch-laptop"],
    ["Anna's MacBook Pro (2)", "anna-s-macbook-pro-2"],
    ["Zoë", "zoe"],
    ["--", "device"],
    ["机器", "device"],
    ["", "device"],
    [`${"a".repeat(31)} bcd`, "a".repeat(31)],
    ["x".repeat(99), "x".repeat(32)],
  ])("is of %j the slug %j, and ten random characters", (name, slug) => {
    const id = makeDeviceId(name);
    expect(id.slice(0, -11)).toBe(slug);
    expect(id.slice(-11)).toMatch(/^-[0-9a-hjkmnp-tv-z]{10}$/);
  });

  it("is one, whatever the name", () => {
    fc.assert(fc.property(anyText, (name) => isDeviceId(makeDeviceId(name))));
  });

  it("differs each time", () => {
    expect(new Set(Array.from({ length: 1000 }, () => makeDeviceId("home"))).size).toBe(1000);
  });

  it.each([
    "home",
    "home-4k7m2x9qp",
    "home-4k7m2x9qpal",
    "home-4k7m2x9qpi",
    "Home-4k7m2x9qpa",
    "-home-4k7m2x9qpa",
    "home--4k7m2x9qpa ",
    "ho me-4k7m2x9qpa",
    "home/../-4k7m2x9qpa",
    `${"x".repeat(33)}-4k7m2x9qpa`,
    "-4k7m2x9qpa",
    "home-4k7m2x9qpa\n",
  ])("is not %j", (text) => {
    expect(isDeviceId(text)).toBe(false);
  });
});

describe("a call's id", () => {
  const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });

  it("is a UUID of version 7 that tells its time", () => {
    fc.assert(
      fc.property(times, (now) => {
        const call = makeCallId(now);
        expect(isCallId(call)).toBe(true);
        expect(callTime(call)).toBe(now);
      }),
    );
  });

  it("sorts by time", () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        if (a !== b) expect(makeCallId(a) < makeCallId(b)).toBe(a < b);
      }),
    );
  });

  it("differs within one millisecond", () => {
    expect(new Set(Array.from({ length: 1000 }, () => makeCallId(1))).size).toBe(1000);
  });

  it.each([
    "0199d3a4-7c1e-4b52-9f3e-2d6a8c410e75",
    "0199d3a4-7c1e-7b52-cf3e-2d6a8c410e75",
    "0199D3A4-7C1E-7B52-9F3E-2D6A8C410E75",
    "0199d3a47c1e7b529f3e2d6a8c410e75",
    "",
  ])("is not %j", (text) => {
    expect(isCallId(text)).toBe(false);
  });
});

describe("a session's id", () => {
  it("is eight random bytes in hex", () => {
    const ids = Array.from({ length: 1000 }, makeSessionId);
    expect(ids.every(isSessionId)).toBe(true);
    expect(new Set(ids).size).toBe(1000);
  });

  it.each(["", "new", "9f3e2d6a8c410e7", "9F3E2D6A8C410E75", "9f3e2d6a8c410e75 "])("is not %j", (text) => {
    expect(isSessionId(text)).toBe(false);
  });
});

it("a grant's id is 80 random bits", () => {
  expect(makeGrantId()).toMatch(/^grant_[0-9a-hjkmnp-tv-z]{16}$/);
});

it("random base32 has every character about equally often", () => {
  const counts = new Map<string, number>();
  for (const char of randomBase32(32_000)) counts.set(char, (counts.get(char) ?? 0) + 1);
  expect(counts.size).toBe(32);
  for (const count of counts.values()) expect(count).toBeGreaterThan(800);
});

it("hex is what Node makes of the same bytes", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => hexOf(bytes) === Buffer.from(bytes).toString("hex")));
});
