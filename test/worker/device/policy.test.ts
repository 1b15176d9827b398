/** A device's policy at the relay: set whole or not at all, closed when it can't be read, and explained. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { deviceToolsSchema } from "@matrx/shared/api.ts";
import type { Explanation } from "@matrx/shared/policy-explain.ts";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { pairAgent } from "../helpers/device.ts";
import { home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const GOOD = { allowed_tools: ["Read"], denied_paths: ["~/.ssh"] };

describe("a policy that is set", () => {
  it.each([
    [{ alowed_tools: ["Read"] }, "alowed_tools"],
    [{ allowed_tools: ["Read", "Read it"] }, '"Read it"'],
    [{ allowed_paths: ["/srv", "projects"] }, '"projects"'],
    [{ denied_paths: ["~/.ssh", "~/.{aws,kube}"] }, '"~/.{aws,kube}"'],
    [{ ask: [{ effects: ["delete"] }] }, "ask"],
    [{ sandbox: "never" }, "sandbox"],
  ])("as %j is refused whole, the entry is named, and the last good one stays", async (wrong, named) => {
    const { person, identity } = await home();
    expect((await person.setPolicy(identity.id, GOOD)).status).toBe(200);
    const refused = await person.setPolicy(identity.id, wrong);
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { detail: string }).detail).toContain(named);
    const kept = await person.ask(`/v1/devices/${identity.id}/policy`);
    expect(await kept.json()).toEqual(GOOD);
  });
});

describe("a stored policy", () => {
  it.each([
    ["of a newer version", { allowed_tools: ["Read"], allowed_hours: [9, 17] }],
    ["with a rule that is not known", { denied_paths: ["nonsense"] }],
    ["that is damaged", "{"],
    ["that is null", null],
  ])("%s closes the device until it is set again", async (_what, stored) => {
    const { person, identity, caller } = await home();
    await runInDurableObject(object(identity.id), (_, { storage }) => storage.kv.put("policy", stored));
    await evictDurableObject(object(identity.id));
    const refusal = await caller.call("Read", { file_path: "/a" });
    expect(refusal).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(JSON.stringify(refusal)).toContain("is damaged, or from a newer relay");
    const path = `/v1/devices/${identity.id}/policy`;
    expect((await person.ask(path)).status).toBe(403);
    const explained = await person.post<Explanation>(`${path}/explain`, { tool: "Read" });
    expect(explained).toMatchObject({ decision: "refused" });
    expect((await person.setPolicy(identity.id, {})).status).toBe(200);
    expect(await (await person.ask(path)).json()).toEqual({});
  });

  it("of an earlier release stands, though its tools and folders fit nothing", async () => {
    const { person, identity } = await home();
    const stored = { allowed_tools: ["my tool"], allowed_paths: ["projects"] };
    await runInDurableObject(object(identity.id), (_, { storage }) => storage.kv.put("policy", stored));
    await evictDurableObject(object(identity.id));
    expect(await (await person.ask(`/v1/devices/${identity.id}/policy`)).json()).toEqual(stored);
  });
});

describe("the list of tools", () => {
  it("leaves out what the caller's grant or the policy does not allow", async () => {
    const { person, identity, token } = await home();
    const listed = async (by: string) => {
      const at = `/v1/devices/${identity.id}/tools`;
      const response = await ask(at, { headers: bearer(by) });
      const names = (await response.json<z.infer<typeof deviceToolsSchema>>()).tools.map(({ name }) => name);
      // The guide's list has the same ones, by name.
      const named = await ask(`${at}/list`, { headers: bearer(by) });
      expect(await named.json()).toEqual({ tools: names.toSorted() });
      return names;
    };
    const reads = await person.token({ access: "read" });
    const named = await person.token({ access: "full", paths: ["/srv"] });
    await person.change(named.id, { tools: ["Write", "Bash"] });
    expect(await listed(token)).toEqual(["Read", "SystemInfo", "Bash", "Write"]);
    expect(await listed(reads.token)).toEqual(["Read", "SystemInfo"]);
    expect(await listed(named.token)).toEqual(["Bash", "Write"]);
    await person.setPolicy(identity.id, { denied_tools: ["Bash", "SystemInfo"] });
    expect(await listed(token)).toEqual(["Read", "Write"]);
    expect(await listed(reads.token)).toEqual(["Read"]);
    expect(await listed(named.token)).toEqual(["Write"]);
  });
});

describe("an explanation", () => {
  it("names the rules in order and the one that decides, for the caller's grant or another of a person", async () => {
    const { person, identity } = await home();
    const path = `/v1/devices/${identity.id}/policy/explain`;
    await person.setPolicy(identity.id, { denied_tools: ["Wr*"], ask: [{ tools: ["Edit"], at: "machine" }] });
    const write = await person.post<Explanation>(path, { tool: "local_write", input: { file_path: "/a" } });
    expect(write).toMatchObject({ tool: "Write", effect: "write", decision: "refused" });
    expect(write.rules.find(({ decides }) => decides)).toEqual({
      ...{ by: "policy", field: "denied_tools", entry: "Wr*", says: "refuses", decides: true },
    });
    expect(await person.post(path, { tool: "Edit" })).toMatchObject({ decision: "asked", at: "machine" });
    expect(await person.post(path, { tool: "Read" })).toMatchObject({ decision: "allowed" });
    const { id } = await person.token({ access: "read" });
    const other = await person.post<Explanation>(path, { tool: "Bash", grant: id });
    expect(other.rules[0]).toMatchObject({ by: "grant", field: "effects", says: "refuses", decides: true });
  });

  it("tells a token about its own grant only, and nothing that the policy names", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const path = `/v1/devices/${identity.id}/policy/explain`;
    await person.setPolicy(identity.id, { denied_tools: ["Screen*"], allowed_paths: ["/home/ann/hidden"] });
    const { token } = await person.token({ access: "read" });
    const { id: other } = await person.token({ access: "full" });
    const told = await ask(path, json({ tool: "Read" }, bearer(token)));
    expect(told.status).toBe(200);
    const text = await told.text();
    expect(JSON.parse(text)).toMatchObject({
      decision: "allowed",
      rules: [
        { field: "effects" },
        { by: "policy", field: "allowed_paths", says: "confines", decides: false },
      ],
    });
    expect(text).not.toMatch(/hidden|Screen/);
    expect((await ask(path, json({ tool: "Read", grant: other }, bearer(token)))).status).toBe(403);
    expect((await ask(path, json({ tool: "Read" }))).status).toBe(401);
    expect((await (await Person.signIn()).ask(path, json({ tool: "Read" }))).status).toBe(404);
  });
});
