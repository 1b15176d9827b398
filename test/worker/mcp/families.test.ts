/** Which tools a model is shown, and what it enables: for whom, where, and for how long. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { TIMES } from "@matrx/shared/limits.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Home, home, object } from "../helpers/home.ts";
import { callOver, say } from "../helpers/mcp.ts";
import { json, Person } from "../helpers/relay.ts";

afterEach(() => void vi.useRealTimers());

const FREE = { paths: null, ask: [] };

async function listed(path: string, token: string): Promise<string[]> {
  const answer = await (await say(path, token, { method: "tools/list" })).text();
  return [...answer.matchAll(/"name":"(\w+)"/g)].map(([, name = ""]) => name);
}

async function enable(path: string, token: string, family: unknown): Promise<string> {
  return (await callOver(path, token, "enable_tools", { family })).text();
}

/** The Worker knows of it only what it calls. */
function mcpObject(grant: string): DurableObjectStub {
  const stub: object = env.MCP.getByName(grant);
  return stub as DurableObjectStub;
}

describe.each([
  [
    "at a device",
    ({ identity }: Home) => `/mcp/d/${identity.id}`,
    ({ identity }: Home) => object(identity.id),
  ],
  ["at all devices", () => "/mcp", (_: Home, grant: string) => mcpObject(grant)],
])("what a model enables %s", (_, addressOf, serverOf) => {
  it("stays in its list after the object has slept, for a day", async () => {
    const house = await home();
    const { token, id } = await house.person.grant(FREE);
    const path = `${addressOf(house)}?tools=files`;
    expect(await listed(path, token)).not.toContain("Bash");
    const told = await enable(path, token, "shell");
    expect(told).toContain("Bash");
    expect(told).not.toContain("SystemInfo");
    const more = await listed(path, token);
    expect(more).toEqual(expect.arrayContaining(["Read", "Bash", "SystemInfo"]));
    await evictDurableObject(serverOf(house, id));
    expect(await listed(path, token)).toEqual(more);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TIMES.familyEnabled });
    expect(await listed(path, token)).not.toContain("Bash");
  });

  it("is all of what it enables at once", async () => {
    const house = await home();
    const { token } = await house.person.grant(FREE);
    const path = `${addressOf(house)}?tools=desktop`;
    await Promise.all(["shell", "files", "shell"].map((family) => enable(path, token, family)));
    expect(await listed(path, token)).toEqual(expect.arrayContaining(["Bash", "Read"]));
    expect((await listed(path, token)).filter((name) => name === "Bash")).toHaveLength(1);
  });

  it("is enabled for no other address, grant or account", async () => {
    const house = await home();
    const [{ token }, other] = [await house.person.grant(FREE), await house.person.grant(FREE)];
    const path = `${addressOf(house)}?tools=files`;
    await enable(path, token, "shell");
    expect(await listed(`${addressOf(house)}?tools=ports`, token)).not.toContain("Bash");
    expect(await listed(path, other.token)).not.toContain("Bash");
    const stranger = await (await Person.signIn()).grant(FREE);
    expect(await listed(path, stranger.token)).not.toContain("Bash");
    // The same families, in other words.
    expect(await listed(`${addressOf(house)}?tools=files,files`, token)).toContain("Bash");
  });

  it("is nothing that its grant refuses, or that is no family", async () => {
    const house = await home();
    const { token } = await house.person.grant({ ...FREE, tools: ["Read"] });
    const path = addressOf(house);
    const before = await listed(path, token);
    expect(before).not.toContain("enable_tools");
    for (const family of ["shell", "ports"])
      expect(await enable(path, token, family)).toContain(
        `TOOL_NOT_FOUND: There are no tools of \\"${family}\\"`,
      );
    for (const family of ["Shell", " shell", "all", "", "webcam", null, ["shell"], "x".repeat(9999)])
      expect(await enable(path, token, family)).toContain("INVALID_PARAMETERS: family");
    expect(await listed(path, token)).toEqual(before);
  });
});

it("nothing of it is left at all devices once it is over, or its grant is", async () => {
  const house = await home();
  const stored = (grant: string) =>
    runInDurableObject(mcpObject(grant), (_, { storage }) => [...storage.kv.list()].length);
  const [kept, revoked] = [await house.person.grant(FREE), await house.person.grant(FREE)];
  for (const { token, id } of [kept, revoked]) {
    await listed("/mcp?tools=files", token);
    expect(await stored(id)).toBe(0);
    await enable("/mcp?tools=files", token, "shell");
    expect(await stored(id)).toBe(1);
  }
  await runDurableObjectAlarm(mcpObject(kept.id));
  expect(await stored(kept.id)).toBe(0);
  await house.person.ask(`/v1/tokens/${revoked.id}`, { method: "DELETE" });
  await expect.poll(() => stored(revoked.id)).toBe(0);
});

it("nothing of it is left at a device once its grant is over", async () => {
  const house = await home();
  const { token, id } = await house.person.grant(FREE);
  const stored = () =>
    runInDurableObject(object(house.identity.id), (_, { storage }) => storage.kv.get("mcp_enabled"));
  await enable(`/mcp/d/${house.identity.id}?tools=files`, token, "shell");
  expect(await stored()).toMatchObject([{ choice: "files", enabled: ["shell"] }]);
  await house.person.ask(`/v1/tokens/${id}`, { method: "DELETE" });
  await expect.poll(stored).toBeUndefined();
});

it("of many addresses of one caller the last ones are kept, and those of others", async () => {
  const house = await home();
  const [{ token }, other] = [await house.person.grant(FREE), await house.person.grant(FREE)];
  const at = (families: string) => `/mcp/d/${house.identity.id}?tools=${families}`;
  await enable(at("files"), other.token, "shell");
  const addresses = ["files", "ports", "desktop", "terminals", "mounted"];
  for (const families of addresses) await enable(at(families), token, "shell");
  await evictDurableObject(object(house.identity.id));
  const shown = [];
  for (const families of addresses)
    if ((await listed(at(families), token)).includes("Bash")) shown.push(families);
  expect(shown).toEqual(addresses.slice(1));
  expect(await listed(at("files"), other.token)).toContain("Bash");
});

it("a token names no more families than there are", async () => {
  const { person } = await home();
  const wish = { name: "test", ...FREE, tool_families: Array.from({ length: 8 }, () => "files") };
  const refused = await person.ask("/v1/tokens", json(wish));
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: "INVALID_PARAMETERS", field: "tool_families" });
});
