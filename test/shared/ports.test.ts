/** Which ports a policy allows, to whom, and how that is explained. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { type Policy, policySchema, refusalOf } from "@matrx/shared/policy.ts";
import { explain } from "@matrx/shared/policy-explain.ts";
import { type PortEntry, portEntryFor } from "@matrx/shared/ports.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const owner: GrantScope = { id: "grant_1" as GrantId, owner: true, effects: ["read", "write", "execute"] };
const ai: GrantScope = { ...owner, owner: false };

function isRefused(grant: GrantScope, policy: Policy, port?: number, tool = "ConnectPort"): boolean {
  return refusalOf({ tool, grant, policy, port, confinesCommands: true }, "agent") !== undefined;
}

describe("a visit to a port", () => {
  const visit: GrantScope = { ...ai, effects: ["execute"], tools: ["FetchPort"], ports: [5173] };
  const isShut = (policy: Policy, port = 5173, tool = "FetchPort") => isRefused(visit, policy, port, tool);

  it("is for its port and its tool alone", () => {
    expect(isShut({})).toBe(false);
    expect(isShut({}, 5174)).toBe(true);
    expect(isShut({}, 5173, "ConnectPort")).toBe(true);
    expect(isShut({}, 5173, "Bash")).toBe(true);
  });

  it.each<[string, Policy]>([
    ["lists other ports", { allowed_ports: [22] }],
    ["lists none", { allowed_ports: [] }],
    ["is limited to folders and lists none", { allowed_paths: ["/srv"] }],
    ["denies it", { denied_tools: ["FetchPort"] }],
    ["denies connections to ports", { denied_tools: ["ConnectPort"] }],
    ["allows other tools", { allowed_tools: ["Read"] }],
  ])("ends where the policy %s", (_, policy) => {
    expect(isShut(policy)).toBe(true);
  });
});

describe("allowed_ports", () => {
  const listed: Policy = { allowed_ports: [5432, "8000-8099"] };

  it.each([
    ["absent", {}, { owner: true, ai: false }],
    ["one of them", listed, { owner: true, ai: true }],
    ["others", { allowed_ports: [22] }, { owner: false, ai: false }],
    ["none", { allowed_ports: [] }, { owner: false, ai: false }],
  ] as const)("%s: what the owner and others may reach", (_, policy, may) => {
    const copy = structuredClone(policy) as Policy;
    expect({ owner: !isRefused(owner, copy, 5432), ai: !isRefused(ai, copy, 5432) }).toEqual(may);
  });

  it("takes ranges with both ends", () => {
    for (const port of [8000, 8050, 8099]) expect(isRefused(ai, listed, port)).toBe(false);
    for (const port of [7999, 8100, 80, 5433]) expect(isRefused(ai, listed, port)).toBe(true);
  });

  it("refuses by name alone where no port could be allowed", () => {
    expect(isRefused(ai, {})).toBe(true);
    expect(isRefused(owner, { allowed_ports: [] })).toBe(true);
    expect(isRefused(ai, listed)).toBe(false);
  });

  it("needs the effect, and lifts no other limit but that of folders, which it names the ports for", () => {
    expect(isRefused({ ...ai, effects: ["read", "write"] }, listed, 5432)).toBe(true);
    expect(isRefused(ai, { ...listed, denied_tools: ["ConnectPort"] }, 5432)).toBe(true);
    expect(isRefused({ ...ai, paths: ["/srv"] }, listed, 5432)).toBe(false);
    expect(isRefused({ ...owner, paths: ["/srv"] }, {}, 5432)).toBe(true);
  });

  it.each([[0], [65_536], ["80"], ["90-80"], ["0-10"], ["1-70000"], ["1-2-3"], [" 1-2"], ["ssh"], [1.5]])(
    "refuses the entry %j",
    (entry) => {
      expect(policySchema.safeParse({ allowed_ports: [entry] }).success).toBe(false);
    },
  );

  it("fits exactly the ports from one end of a range to the other", () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(port, port, port, (one, other, asked) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const entries: PortEntry[] = [`${from}-${to}`];
        expect(policySchema.safeParse({ allowed_ports: entries }).success).toBe(true);
        expect(portEntryFor(entries, asked) !== undefined).toBe(from <= asked && asked <= to);
      }),
    );
  });

  it("is named by the explanation, with the entry that fits, and by the rule that refuses", () => {
    const question = { tool: "ConnectPort", grant: ai, policy: listed, confinesCommands: true };
    expect(explain(question, { port: 8080 })).toMatchObject({
      decision: "allowed",
      rules: expect.arrayContaining([
        { by: "policy", field: "allowed_ports", entry: "8000-8099", says: "allows", decides: false },
      ]),
    });
    expect(explain(question, { port: 22 })).toMatchObject({
      decision: "refused",
      reason: "Port 22 is not allowed by the device's policy",
      rules: expect.arrayContaining([
        { by: "policy", field: "allowed_ports", says: "refuses", decides: true },
      ]),
    });
    const asking: Policy = { ...listed, ask: [{ match: "localhost:8080" }] };
    expect(explain({ ...question, policy: asking }, { port: 8080 }).decision).toBe("asked");
    expect(explain({ ...question, policy: asking }, { port: 8081 }).decision).toBe("allowed");
  });
});
