/** The whole decision, refused, asked, sandboxed: restrictions never loosen it, and its explanation agrees with it. */

import { ANYTHING } from "@matrx/shared/commands/subject.ts";
import { EFFECTS, effectOf, effectOfCall } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import {
  askingRules,
  mayRunAnyProgram,
  needsSandbox,
  type Policy,
  policySchema,
  refusalOf,
} from "@matrx/shared/policy.ts";
import { explain, withoutPolicysEntries } from "@matrx/shared/policy-explain.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const TOOLS = [
  "Read",
  "Write",
  "Bash",
  "Delete",
  "ApplyPatch",
  "TerminalAttach",
  "TerminalExecute",
  "Screenshot",
  "ClipboardRead",
  "OpenUrl",
  "open_app",
  "files__list",
  "files__write",
];
const GLOBS = [...TOOLS, "*", "files__*", "?ead", "B*", "nothing"];
const FOLDERS = ["/home/ann", "~/projects", "C:\\work"];
const CLOSED = ["~/.ssh", "**/.env*", "/srv/[ab]"];

const tools = fc.constantFrom(...TOOLS);
const globs = fc.subarray(GLOBS, { maxLength: 4 });
const subjects = fc.option(
  fc.array(fc.constantFrom("git push", "rm -rf /", "/home/ann/x"), { maxLength: 2 }),
  {
    nil: undefined,
  },
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const askRules = fc.record(
  {
    effects: fc.subarray([...EFFECTS], { minLength: 1 }),
    tools: fc.subarray(GLOBS, { minLength: 1, maxLength: 3 }),
    match: fc.constantFrom("git *", "*", "/home/*", "?"),
    except: fc.subarray(TOOLS, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const asks = fc.array(askRules, { maxLength: 3 });

const grants = fc
  .record({
    effects: fc.subarray([...EFFECTS]),
    owner: fc.boolean(),
    tools: maybe(globs),
    paths: maybe(fc.subarray(FOLDERS)),
    denied_paths: maybe(fc.subarray(CLOSED)),
    ask: maybe(asks),
  })
  .map((grant) => ({ id: "grant_1" as GrantId, ...present(grant) }) as GrantScope);
const policies = fc
  .record({
    allowed_tools: maybe(globs),
    denied_tools: maybe(globs),
    allowed_paths: maybe(fc.subarray(FOLDERS)),
    denied_paths: maybe(fc.subarray(CLOSED)),
    allowed_apps: maybe(fc.subarray(["code", "chrome"])),
    ask: maybe(asks),
    sandbox: maybe(fc.constant("always" as const)),
  })
  .map((policy) => present(policy) as Policy);

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

interface World {
  grant: GrantScope;
  policy: Policy;
}

function decide(
  tool: string,
  { grant, policy }: World,
  known?: readonly string[],
  confinesCommands = true,
  effect = effectOf(tool),
) {
  return {
    refused: refusalOf({ tool, grant, policy, confinesCommands }, "agent") !== undefined,
    asked: askingRules({ tool, effect, grant, policies: [policy] }, known).length > 0,
    sandboxed: needsSandbox(grant, [policy]),
    confined: !mayRunAnyProgram(grant, [policy]),
  };
}

/** Takes from a list of allowed entries what another lacks; a list that is absent allows all. */
const fewer = (list: readonly string[] | undefined, keep: readonly string[]) =>
  list ? list.filter((one) => keep.includes(one)) : [...keep];

/** Each way to restrict further. */
const restrictions: fc.Arbitrary<(world: World) => World> = fc.oneof(
  globs.map((keep) => ({ grant, policy }: World) => ({
    grant: { ...grant, tools: narrowed(grant.tools, keep) },
    policy,
  })),
  globs.map((keep) => ({ grant, policy }: World) => ({
    grant,
    policy: { ...policy, allowed_tools: narrowed(policy.allowed_tools, keep) },
  })),
  globs.map((more) => ({ grant, policy }: World) => ({
    grant,
    policy: { ...policy, denied_tools: [...(policy.denied_tools ?? []), ...more] },
  })),
  fc.subarray([...EFFECTS]).map((keep) => ({ grant, policy }: World) => ({
    grant: { ...grant, effects: grant.effects.filter((effect) => keep.includes(effect)) },
    policy,
  })),
  fc.subarray(FOLDERS).map((keep) => ({ grant, policy }: World) => ({
    grant: { ...grant, paths: fewer(grant.paths, keep) },
    policy,
  })),
  fc.subarray(FOLDERS).map((keep) => ({ grant, policy }: World) => ({
    grant,
    policy: { ...policy, allowed_paths: fewer(policy.allowed_paths, keep) },
  })),
  fc.subarray(CLOSED).map((more) => ({ grant, policy }: World) => ({
    grant: { ...grant, denied_paths: [...(grant.denied_paths ?? []), ...more] },
    policy,
  })),
  fc.subarray(CLOSED).map((more) => ({ grant, policy }: World) => ({
    grant,
    policy: { ...policy, denied_paths: [...(policy.denied_paths ?? []), ...more] },
  })),
  asks.map((more) => ({ grant, policy }: World) => ({
    grant: { ...grant, ask: [...(grant.ask ?? []), ...more] },
    policy,
  })),
  asks.map((more) => ({ grant, policy }: World) => ({
    grant,
    policy: { ...policy, ask: [...(policy.ask ?? []), ...more] },
  })),
  fc.constant(({ grant, policy }: World) => ({ grant, policy: { ...policy, sandbox: "always" as const } })),
  fc.constant(({ grant, policy }: World) => ({ grant: { ...grant, owner: false }, policy })),
);

/** Entries of a list that are left; one that was absent now has only those. */
function narrowed(list: readonly string[] | undefined, keep: readonly string[]): string[] {
  return fewer(list, keep);
}

const given = { command: "git push", url: "git push", app: "git push" };
const inputs = fc.constantFrom<Record<string, unknown>>(
  ...[{}, given, { ...given, read_only: true }, { ...given, read_only: "true" }, { ...given, write: true }],
);
const worlds = fc.record({ grant: grants, policy: policies });

describe("a decision", () => {
  it("is never looser with one more restriction: refused stays refused, asked asked or refused, sandboxed sandboxed", () => {
    fc.assert(
      fc.property(
        tools,
        worlds,
        restrictions,
        subjects,
        fc.boolean(),
        (tool, world, restrict, known, confines) => {
          const before = decide(tool, world, known, confines);
          const after = decide(tool, restrict(world), known, confines);
          if (before.refused) expect(after.refused).toBe(true);
          if (before.asked) expect(after.asked || after.refused).toBe(true);
          if (before.sandboxed) expect(after.sandboxed).toBe(true);
          if (before.confined) expect(after.confined).toBe(true);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it("does not depend on the order of any list", () => {
    const shuffled =
      (seed: number) =>
      <T>(list: readonly T[] | undefined) =>
        list
          ?.map((one, index) => ({ one, at: (index * 7919 + seed) % 13 }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
    fc.assert(
      fc.property(tools, worlds, fc.nat(100), subjects, (tool, { grant, policy }, seed, known) => {
        const mix = shuffled(seed);
        const lists = <T extends object>(fields: T) =>
          Object.fromEntries(
            Object.entries(fields).map(([key, value]) => [key, Array.isArray(value) ? mix(value) : value]),
          ) as T;
        const other = { grant: lists(grant), policy: lists(policy) };
        expect(decide(tool, other, known)).toEqual(decide(tool, { grant, policy }, known));
      }),
      { numRuns: 5000 },
    );
  });

  it("is the same whether grant or policy says it: tools, folders, closed paths, questions", () => {
    fc.assert(
      fc.property(tools, worlds, subjects, (tool, { grant, policy: { allowed_apps } }, known) => {
        const { tools: named, paths, denied_paths, ask, ...bare } = grant;
        const open = present({ allowed_apps });
        const moved = present({ allowed_tools: named, allowed_paths: paths, denied_paths, ask });
        const byGrant = decide(tool, { grant, policy: open }, known);
        const byPolicy = decide(tool, { grant: bare, policy: { ...open, ...moved } }, known);
        // Only the owner is not asked by a grant.
        if (grant.owner) expect({ ...byGrant, asked: byPolicy.asked }).toEqual(byPolicy);
        else expect(byGrant).toEqual(byPolicy);
      }),
      { numRuns: 5000 },
    );
  });

  it("is explained as it is made, with one rule that decides against it, and no entry of a policy to a token", () => {
    fc.assert(
      fc.property(tools, worlds, fc.boolean(), inputs, (tool, world, confinesCommands, input) => {
        const hasInput = "command" in input;
        const effect = confinesCommands ? effectOfCall(tool, () => input) : effectOf(tool);
        const isReader = tool === "Bash" && effect === "read";
        const isTold = ["Bash", "TerminalExecute", "OpenUrl", "open_app"].includes(tool);
        const isSeen = tool !== "TerminalExecute";
        const known = hasInput && isTold ? ["git push", ...(isSeen ? [] : [ANYTHING])] : undefined;
        const { refused, asked, sandboxed } = decide(tool, world, known, confinesCommands, effect);
        const explained = explain({ tool, ...world, confinesCommands }, input);
        expect(explained.decision).toBe(refused ? "refused" : asked ? "asked" : "allowed");
        expect(explained.sandbox).toBe(/^(?:Bash|Terminal)/.test(tool) && (sandboxed || isReader));
        expect(explained.effect).toBe(effect);
        const deciding = explained.rules.filter(({ decides }) => decides);
        expect(deciding.length).toBe(refused || asked ? 1 : 0);
        if (refused) expect(deciding[0]?.says).toBe("refuses");
        const told = withoutPolicysEntries(explained);
        expect(told.rules.some(({ by, entry }) => by === "policy" && entry !== undefined)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("an entry of a policy that nothing could fit", () => {
  it.each([
    [{ denied_tools: ["Read it"] }, /"Read it" fits no tool's name/],
    [{ allowed_tools: ["Read", "Ba[sz]h"] }, /"Ba\[sz\]h" fits no tool's name/],
    [{ denied_paths: ["~/.{ssh,aws}"] }, /"~\/\.\{ssh,aws\}" has braces/],
    [{ denied_paths: ["~/.ssh", "secrets"] }, /"secrets" must be a full path/],
    [{ denied_paths: ["/a/[z-a]"] }, /"\/a\/\[z-a\]" has a range/],
    [{ denied_paths: ["/a/[b/c"] }, /has a \[ without \]/],
    [{ allowed_paths: ["projects"] }, /"projects" must be a folder's full path/],
    [{ ask: [{ tools: [] }] }, /./],
    [{ ask: [{ tool: "Bash" }] }, /./],
    [{ sandbox: "sometimes" }, /./],
    [{ denied_path: ["~/.ssh"] }, /denied_path/],
  ])("%j is refused, and named", (policy, message) => {
    const { error } = policySchema.safeParse(policy);
    expect(error?.issues.map((issue) => issue.message).join()).toMatch(message);
  });
});
