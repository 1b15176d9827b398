import { publicOrigin } from "@matrx/shared/public-url.ts";
import { expect, test } from "vitest";

test.each([
  ["https://relay.example", "https://relay.example"],
  ["https://Relay.Example/", "https://relay.example"],
  ["https://relay.example:8443", "https://relay.example:8443"],
  ["https://relay.example:443", "https://relay.example"],
  ["https://[2001:db8::1]", "https://[2001:db8::1]"],
  ["http://localhost:8787", "http://localhost:8787"],
  ["http://[::1]:8787/", "http://[::1]:8787"],
])("%s is %s", (text, origin) => expect(publicOrigin(text)).toBe(origin));

test.each([
  "",
  "relay.example",
  "relay.example:443",
  "http://relay.example",
  "http://localhost.evil.example",
  "wss://relay.example",
  "https://relay.example/matrx",
  "https://relay.example/?a",
  "https://relay.example/#a",
  "https://ann@relay.example",
  "https://",
  "javascript:alert(1)",
])("%j is none", (text) => expect(publicOrigin(text)).toBeUndefined());
