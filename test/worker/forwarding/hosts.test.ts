/** Which hosts are those of ports, and which are the relay's own. */
import { expect, it } from "vitest";
import type { ForwardEnv } from "../../../worker/env.ts";
import { forwardHostOf, forwardOrigin } from "../../../worker/forwarding/hosts.ts";

const VISITED = { device: "laptop-0123456789", port: 5173 };
const EMBEDDED: ForwardEnv = { EMBEDDED: "1", HOSTS: "localhost:8787,127.0.0.1:8787,[::1]:8787" };
const HOSTED: ForwardEnv = { MATRX_URL: "https://relay.example", FORWARD_DOMAIN: "forward.example" };

function to(host: string): Request {
  return new Request("http://any.test/", { headers: { Host: host } });
}

it.each<[env: ForwardEnv, host: string, origin: string | undefined]>([
  [EMBEDDED, "5173--laptop-0123456789.localhost:8787", "http://5173--laptop-0123456789.localhost:8787"],
  [EMBEDDED, "localhost:8787", undefined],
  [EMBEDDED, "127.0.0.1:8787", undefined],
  [EMBEDDED, "5173--laptop-0123456789.localhost:8788", undefined],
  [HOSTED, "5173--laptop-0123456789.FORWARD.example", "https://5173--laptop-0123456789.forward.example"],
  [HOSTED, "relay.example", undefined],
  [HOSTED, "forward.example", undefined],
  [HOSTED, "5173--laptop-0123456789.evilforward.example", undefined],
  [{ ...HOSTED, FORWARD_DOMAIN: "example" }, "relay.example", undefined],
  [
    { ...HOSTED, FORWARD_DOMAIN: "ports.relay.example" },
    "5173--laptop-0123456789.ports.relay.example",
    undefined,
  ],
])("%o at %s", (env, host, origin) => {
  const found = forwardHostOf(env, to(host));
  expect(found?.origin).toBe(origin);
  if (origin) expect(found?.visited).toEqual(VISITED);
});

it.each([
  "0--laptop-0123456789",
  "05--laptop-0123456789",
  "65536--laptop-0123456789",
  "5173-laptop-0123456789",
  "a",
  "a.b",
  "5173--",
])("%s names no port of a device", (label) => {
  const found = forwardHostOf(HOSTED, to(`${label}.forward.example`));
  expect(found).toMatchObject({ visited: undefined });
});

it.each([":8443", ".", ".:443", ":"])(
  "nor does a host with %s at its end, and it is not the relay's",
  (end) => {
    const host = `5173--laptop-0123456789.forward.example${end}`;
    expect(forwardHostOf({ FORWARD_DOMAIN: "forward.example" }, to(host))).toMatchObject({
      visited: undefined,
    });
  },
);

it.each<[env: ForwardEnv, at: string, origin: string]>([
  [EMBEDDED, "localhost:8787", "http://5173--laptop-0123456789.localhost:8787"],
  [{ ...EMBEDDED, MATRX_URL: "http://localhost:9000" }, "x", "http://5173--laptop-0123456789.localhost:9000"],
  [HOSTED, "relay.example", "https://5173--laptop-0123456789.forward.example"],
  [{ ...EMBEDDED, ...HOSTED }, "localhost:8787", "https://5173--laptop-0123456789.forward.example"],
])("of %o a link asked for at %s leads to %s", (env, at, origin) => {
  expect(forwardOrigin(env, new Request(`http://${at}/`), VISITED)).toBe(origin);
});

it.each<[env: ForwardEnv, hint: string]>([
  [{ MATRX_URL: "https://relay.example" }, "Set FORWARD_DOMAIN"],
  [{ ...EMBEDDED, MATRX_URL: "https://relay.example" }, "Set FORWARD_DOMAIN"],
  [{ ...HOSTED, FORWARD_DOMAIN: "https://forward.example" }, "without a scheme"],
  [{ ...HOSTED, FORWARD_DOMAIN: "example" }, "neither above nor below"],
  [{ ...HOSTED, FORWARD_DOMAIN: "relay.example" }, "neither above nor below"],
  // Browsers let pages below a host replace and remove its passkeys.
  [{ ...HOSTED, FORWARD_DOMAIN: "ports.relay.example" }, "neither above nor below"],
  [{ ...HOSTED, FORWARD_DOMAIN: "ports.relay.example:8443" }, "neither above nor below"],
  [{ ...HOSTED, FORWARD_DOMAIN: "relay.example:8443" }, "neither above nor below"],
  [{ FORWARD_DOMAIN: "ports.relay.example" }, "neither above nor below"],
])("of %o there are no links, and the error says what to do", (env, hint) => {
  const make = () => forwardOrigin(env, new Request("https://relay.example/"), VISITED);
  expect(make).toThrow(expect.objectContaining({ code: "UNAVAILABLE", hint: expect.stringContaining(hint) }));
});
