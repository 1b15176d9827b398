/** What a device says of a file stands in headers of the relay's origin: none of it may do harm there. */
import { expect, it } from "vitest";
import { home } from "../helpers/home.ts";
import { bearer } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const LIES = {
  "a name with line breaks": {
    said: { name: 'a"\r\nSet-Cookie: x=y', media_type: "text/html\r\nSet-Cookie: x=y" },
    told: 'filename="a___Set',
  },
  // Half a surrogate pair.
  "a name that is no text": {
    said: { name: "half \ud800 a pair", media_type: "" },
    told: 'filename="half _ a pair"',
  },
};

async function headersOf(said: Record<string, unknown>) {
  const { device, token, identity } = await home();
  const tools = [
    { name: "FileInfo", description: "Tells", effect: "read", input_schema: { type: "object" } },
  ];
  device.send({ type: "manifest", hash: "manifest-2", tools });
  const path = `/v1/devices/${identity.id}/files/a`;
  const asked = ask(path, { method: "HEAD", headers: bearer(token) });
  const execute = await device.expect("tool_execute");
  const metadata = { kind: "file", path: "/a", size: 1, modified: new Date().toISOString(), ...said };
  device.answer(execute, "", {}, { metadata });
  const { status, headers } = await asked;
  expect(status).toBe(200);
  return headers;
}

it.each(Object.keys(LIES) as (keyof typeof LIES)[])("%s is made harmless", async (lie) => {
  const { said, told } = LIES[lie];
  const headers = await headersOf(said);
  expect([headers.get("Content-Type"), headers.get("Set-Cookie")]).toEqual([
    "application/octet-stream",
    null,
  ]);
  expect(headers.get("Content-Disposition")).toContain(told);
});

it.each(["text/javascript; charset=utf-8", "application/x-ecmascript", "TEXT/JScript"])(
  "%s is told as plain text: no page of the relay can load it as its script",
  async (media_type) => {
    const headers = await headersOf({ name: "a.js", media_type });
    expect([headers.get("Content-Type"), headers.get("X-Content-Type-Options")]).toEqual([
      "text/plain; charset=utf-8",
      "nosniff",
    ]);
  },
);

it("no proxy may compress a file: its entity tag would become a weak one", async () => {
  expect((await headersOf({ name: "a.txt", media_type: "text/plain" })).get("Cache-Control")).toContain(
    "no-transform",
  );
});
