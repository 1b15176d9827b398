/** Which proxy the environment names for which server, and which servers it exempts. */
import { describe, expect, test } from "vitest";
import { placeOf, proxyFor } from "../../../agent/network/proxy.ts";

const RELAY = new URL("https://relay.example");

const hrefFor = (env: NodeJS.ProcessEnv, url = RELAY) => proxyFor(url, env)?.url.href;

test("HTTPS_PROXY comes before ALL_PROXY, and the lower-case name before the other", () => {
  expect(hrefFor({})).toBeUndefined();
  expect(hrefFor({ HTTP_PROXY: "http://web:1" })).toBeUndefined();
  expect(hrefFor({ ALL_PROXY: "http://all:1" })).toBe("http://all:1/");
  expect(hrefFor({ ALL_PROXY: "http://all:1", HTTPS_PROXY: "http://secure:1" })).toBe("http://secure:1/");
  expect(hrefFor({ HTTPS_PROXY: "http://upper:1", https_proxy: "http://lower:1" })).toBe("http://lower:1/");
  expect(hrefFor({ HTTPS_PROXY: " ", all_proxy: "proxy:3128" })).toBe("http://proxy:3128/");
  expect(hrefFor({ HTTPS_PROXY: "https://proxy.example" })).toBe("https://proxy.example/");
});

test("this machine itself is never behind a proxy", () => {
  const env = { HTTPS_PROXY: "http://proxy:1", NO_PROXY: "" };
  for (const host of ["localhost:8443", "127.0.0.1", "127.8.0.1", "[::1]:1", "a.localhost"])
    expect([host, hrefFor(env, new URL(`https://${host}`))]).toEqual([host, undefined]);
});

describe("NO_PROXY", () => {
  test.each([
    ["*", "relay.example"],
    ["relay.example", "relay.example"],
    ["other, relay.example", "relay.example"],
    ["other relay.EXAMPLE.", "relay.example"],
    ["example", "relay.example"],
    [".example", "relay.example"],
    ["*.example", "relay.example"],
    ["relay.example:443", "relay.example"],
    ["relay.example:8443", "relay.example:8443"],
    ["10.0.0.0/8", "10.1.2.3"],
    ["10.1.2.3", "10.1.2.3:8443"],
    ["fd00::/8", "[fd12::1]"],
    ["[fd12::1]:443", "[fd12::1]"],
    ["fd12::1", "[fd12::1]"],
  ])("%s exempts %s", (list, host) => {
    const url = new URL(`https://${host}`);
    expect(hrefFor({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: list }, url)).toBeUndefined();
    expect(hrefFor({ HTTPS_PROXY: "http://proxy:1", no_proxy: list }, url)).toBeUndefined();
  });

  test.each([
    ["", "relay.example"],
    [",", "relay.example"],
    ["lay.example", "relay.example"],
    ["sub.relay.example", "relay.example"],
    ["relay.example:8443", "relay.example"],
    ["10.0.0.0/8", "11.1.2.3"],
    ["10.0.0.0/99", "10.1.2.3"],
    ["10.0.0.0/8", "relay.example"],
    ["fd00::/8", "10.1.2.3"],
  ])("%s does not exempt %s", (list, host) => {
    const url = new URL(`https://${host}`);
    expect(hrefFor({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: list }, url)).toBe("http://proxy:1/");
  });
});

test("a proxy is named without its user and its password", () => {
  const proxy = proxyFor(RELAY, { https_proxy: "http://ann:s3cret@proxy.example:3128" });
  expect(proxy && placeOf(proxy)).toBe("http://proxy.example:3128 (https_proxy)");
});

test.each([
  ["socks5://ann:s3cret@proxy:1080", "HTTPS_PROXY names a proxy of the kind socks5"],
  ["http://ann:s3cret@", "HTTPS_PROXY is not the URL of a proxy"],
  ["http://ann:s3cret@proxy:port", "HTTPS_PROXY is not the URL of a proxy"],
])("%s is refused, and its password is not told", (text, why) => {
  expect(() => proxyFor(RELAY, { HTTPS_PROXY: text })).toThrow(
    expect.objectContaining({ code: "UNAVAILABLE", message: expect.stringContaining(why) }),
  );
  expect(() => proxyFor(RELAY, { HTTPS_PROXY: text })).not.toThrow(/s3cret/);
});
