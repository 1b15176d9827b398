/** A GET that depends on the file's version: what the device is asked, by what its agent says that its Download takes. */
import { expect, it } from "vitest";
import { type Home, home } from "../helpers/home.ts";
import { bearer } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const FACTS = {
  ...{ kind: "file", path: "/a", name: "a.txt", size: 5, media_type: "text/plain" },
  ...{ modified: "2026-01-01T00:00:00.000Z", etag: "abc" },
};

/** A home whose agent's Download takes these parameters. */
async function homeOf(...parameters: string[]): Promise<Home> {
  const at = await home();
  const properties = Object.fromEntries(parameters.map((name) => [name, {}]));
  const tool = { description: "Reads", effect: "read", input_schema: { type: "object", properties } };
  const tools = [
    { ...tool, name: "FileInfo" },
    { ...tool, name: "Download" },
  ];
  at.device.send({ type: "manifest", hash: "manifest-2", tools });
  return at;
}

const get = ({ identity, token }: Home, headers: Record<string, string>) =>
  ask(`/v1/devices/${identity.id}/files/a`, { headers: { ...bearer(token), ...headers } });

it("is one call of an agent that judges conditions", async () => {
  const at = await homeOf("path", "conditions");
  const asked = get(at, { "If-None-Match": '"abc"' });
  const execute = await at.device.expect("tool_execute");
  expect([execute.tool, execute.parameters]).toEqual([
    "Download",
    { path: "/a", conditions: { "If-None-Match": '"abc"' } },
  ]);
  at.device.answer(execute, "", {}, { metadata: { ...FACTS, status: 304 } });
  expect((await asked).status).toBe(304);
});

it("asks an older agent only what it knows: for the file's facts, then for the part", async () => {
  const at = await homeOf("path", "offset", "length", "if_etag");
  const asked = get(at, { Range: "bytes=1-3" });
  const looked = await at.device.expect("tool_execute");
  expect([looked.tool, looked.parameters]).toEqual(["FileInfo", { path: "/a" }]);
  at.device.answer(looked, "", {}, { metadata: FACTS });
  const execute = await at.device.expect("tool_execute");
  expect([execute.tool, execute.parameters]).toEqual([
    "Download",
    { path: "/a", offset: 1, length: 3, if_etag: "abc" },
  ]);
  at.device.answer(execute, "gone", { status: "error", code: "NOT_FOUND" });
  expect((await asked).status).toBe(404);
});

it("is refused for Download itself where that is not allowed, whatever the agent knows", async () => {
  const at = await homeOf("path");
  await at.person.setPolicy(at.identity.id, { denied_tools: ["Download"] });
  expect((await get(at, { "If-Match": '"abc"' })).status).toBe(403);
});
