import { EFFECTS, effectOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { mayRunAnyProgram, type Policy, policySchema, refusalOf } from "@matrx/shared/policy.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** Seen or done beyond folders, or not known. */
const BEYOND_FOLDERS = [
  "Bash",
  "Screenshot",
  "ClipboardRead",
  "ClipboardWrite",
  "ListProcesses",
  "SystemMetrics",
  "NetworkConnections",
  "StopProcess",
  "open_app",
  "github__close_issue",
];
const TOOLS = [
  "Read",
  "Glob",
  "Write",
  "Edit",
  "OpenUrl",
  "delete_directory",
  "SystemInfo",
  ...BEYOND_FOLDERS,
];
const OWNER: GrantScope = { id: "grant_1" as GrantId, owner: true, effects: [...EFFECTS] };

const someTools = fc.option(fc.subarray(TOOLS), { nil: undefined, freq: 2 });
const somePaths = fc.option(fc.subarray(["/home/ann", "/srv", "/tmp"]), { nil: undefined, freq: 2 });

const grants = fc.record({
  effects: fc.subarray([...EFFECTS]),
  owner: fc.boolean(),
  tools: someTools,
  paths: somePaths,
});
const someApps = fc.option(fc.subarray(["code", "chrome"]), { nil: undefined, freq: 2 });
const policies = fc.record({ allowed_tools: someTools, allowed_paths: somePaths });
const tools = fc.constantFrom(...TOOLS);

type Grant = {
  effects: GrantScope["effects"];
  owner: boolean;
  tools?: string[] | undefined;
  paths?: string[] | undefined;
};
type Limits = Partial<Record<"allowed_tools" | "allowed_paths" | "allowed_apps", string[] | undefined>>;

function allows(tool: string, grant: Grant, policy: Limits, confinesCommands = false): boolean {
  const scope = { id: OWNER.id, ...present(grant) } as GrantScope;
  const question = { tool, grant: scope, policy: present(policy) as Policy, confinesCommands };
  return refusalOf(question, "agent") === undefined;
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** What of a list both allow; absent allows all. */
function both(a: string[] | undefined, b: string[] | undefined): string[] | undefined {
  return a && b ? a.filter((name) => b.includes(name)) : (a ?? b);
}

describe("the gate", () => {
  it("lets the owner do all that no policy limits", () => {
    expect(TOOLS.filter((tool) => !allows(tool, OWNER, {}))).toEqual([]);
  });

  it("is never looser with a stricter policy", () => {
    fc.assert(
      fc.property(tools, grants, policies, policies, (tool, grant, policy, more) => {
        const stricter = {
          allowed_tools: both(policy.allowed_tools, more.allowed_tools),
          allowed_paths: both(policy.allowed_paths, more.allowed_paths),
        };
        if (allows(tool, grant, stricter)) {
          expect(allows(tool, grant, policy)).toBe(true);
          expect(allows(tool, grant, more)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("is never looser with a smaller grant", () => {
    fc.assert(
      fc.property(tools, grants, grants, policies, (tool, grant, more, policy) => {
        const smaller = {
          effects: grant.effects.filter((effect) => more.effects.includes(effect)),
          owner: grant.owner && more.owner,
          tools: both(grant.tools, more.tools),
          paths: both(grant.paths, more.paths),
        };
        if (allows(tool, smaller, policy)) {
          expect(allows(tool, grant, policy)).toBe(true);
          expect(allows(tool, more, policy)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("needs the tool's effect, whatever else is granted", () => {
    fc.assert(
      fc.property(tools, grants, policies, (tool, grant, policy) => {
        if (!grant.effects.includes(effectOf(tool))) expect(allows(tool, grant, policy)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it("opens no shell to a guest, or where paths are limited, unless the device can confine commands", () => {
    fc.assert(
      fc.property(grants, policies, (grant, policy) => {
        if (!grant.owner || grant.paths || policy.allowed_paths)
          expect(allows("Bash", grant, policy)).toBe(false);
        const unlimited = { ...grant, owner: true, paths: undefined };
        expect(allows("Bash", grant, policy, true)).toBe(
          allows("Bash", unlimited, { ...policy, allowed_paths: undefined }),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("gives no tool that goes beyond folders where grant or policy names some", () => {
    fc.assert(
      fc.property(fc.constantFrom(...BEYOND_FOLDERS), grants, policies, (tool, grant, policy) => {
        expect(allows(tool, { ...grant, paths: grant.paths ?? [] }, policy)).toBe(false);
        expect(allows(tool, grant, { ...policy, allowed_paths: policy.allowed_paths ?? [] })).toBe(false);
      }),
      { numRuns: 1000 },
    );
    const held: [Grant, Limits][] = [
      [{ ...OWNER, paths: ["/srv"] }, {}],
      [OWNER, { allowed_paths: ["/srv"] }],
    ];
    for (const [grant, policy] of held)
      expect(TOOLS.filter((tool) => !allows(tool, grant, policy))).toEqual(BEYOND_FOLDERS);
  });

  it("knows one notion of folders: said by the grant, by the policy or by both, the same tools are closed", () => {
    fc.assert(
      fc.property(
        tools,
        grants,
        policies,
        someApps,
        fc.array(fc.string()),
        (tool, grant, policy, apps, folders) => {
          const [bare, open] = [
            { ...grant, paths: undefined },
            { ...policy, allowed_paths: undefined, allowed_apps: apps },
          ];
          const byGrant = allows(tool, { ...bare, paths: folders }, open);
          const byPolicy = allows(tool, bare, { ...open, allowed_paths: folders });
          const byBoth = allows(tool, { ...bare, paths: folders }, { ...open, allowed_paths: folders });
          expect([byGrant, byBoth]).toEqual([byPolicy, byPolicy]);
          if (byPolicy) expect(allows(tool, bare, open)).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("lets applications be started under limits of folders that a policy names, and no others", () => {
    const held = { ...OWNER, paths: ["/srv"] };
    expect(allows("open_app", held, { allowed_apps: ["code"] })).toBe(true);
    expect(allows("open_app", OWNER, { allowed_paths: ["/srv"], allowed_apps: ["code"] })).toBe(true);
    expect(allows("open_app", OWNER, { allowed_paths: ["/srv"] })).toBe(false);
    expect(allows("open_app", held, {})).toBe(false);
  });

  it("lets any program be run only for a grant that may call Bash under every policy", () => {
    fc.assert(
      fc.property(grants, policies, policies, (grant, policy, relay) => {
        const scope = { id: OWNER.id, ...present(grant), effects: [...EFFECTS] } as GrantScope;
        const all = [policy, relay].map((one) => present(one) as Policy);
        const mayCallBash = all.every((one) => allows("Bash", scope, one));
        expect(mayRunAnyProgram(scope, all)).toBe(mayCallBash);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["allowed_tools", { allowed_tools: [] }],
    ["the grant's tools", {}],
  ])("takes an empty list as nothing: %s", (what, policy) => {
    const grant = what === "allowed_tools" ? OWNER : { ...OWNER, tools: [] };
    expect(TOOLS.filter((tool) => allows(tool, grant, policy))).toEqual([]);
  });

  it.each([
    [
      "needs the permission",
      "Write",
      { ...OWNER, effects: ["read"] },
      {},
      /needs the permission "write".* granted: read$/,
    ],
    ["no effect at all", "Read", { ...OWNER, effects: [] }, {}, /granted: none$/],
    ["the grant's tools", "Read", { ...OWNER, tools: ["Glob"] }, {}, /by the grant$/],
    ["the policy's tools", "Read", OWNER, { allowed_tools: ["Glob"] }, /the device's policy/],
    [
      "the policy's paths",
      "Bash",
      OWNER,
      { allowed_paths: ["/srv"] },
      /the device's policy is limited to folders/,
    ],
    ["the grant's paths", "Bash", { ...OWNER, paths: ["/srv"] }, {}, /the grant is limited to folders/],
    [
      "the grant's paths and the screen",
      "Screenshot",
      { ...OWNER, paths: ["/srv"] },
      {},
      /is limited to folders, and Screenshot can.t be confined to them/,
    ],
    ["a guest's shell", "Bash", { ...OWNER, owner: false }, {}, /the caller is not the owner/],
  ] as const)("says why: %s", (_why, tool, grant, policy, message) => {
    const scopes = { grant: grant as GrantScope, policy: policy as Policy };
    const refusal = refusalOf({ tool, ...scopes, confinesCommands: false }, "relay");
    expect(refusal).toMatchObject({ code: "PERMISSION_DENIED", hop: "relay", details: { tool } });
    expect(refusal?.message).toMatch(message);
    expect(refusal?.hint).toBeTruthy();
  });
});

describe("a policy", () => {
  it.each([
    { alowed_paths: [] },
    { allowed_paths: "/home" },
    { allowed_paths: [""] },
    { rates: { calls_per_minute: 0 } },
    { rates: { calls_per_hour: 1 } },
    [],
    null,
  ])("is not %j", (value) => {
    expect(policySchema.safeParse(value).success).toBe(false);
  });

  it("may be empty", () => {
    expect(policySchema.parse({})).toEqual({});
  });
});
