/** What "always" lifts: what its person was shown, and nothing that only other calls of the tool do. */
import type { AskRule } from "@matrx/shared/access-rules.ts";
import { EFFECTS } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { askingRules, excepting } from "@matrx/shared/policy.ts";
import { describe, expect, it } from "vitest";

const AI: GrantScope = { id: "grant_1" as GrantId, owner: false, effects: [...EFFECTS] };

/** Whether a rule asks about a call that also does this; what it touches is known, or not. */
function asks(rule: AskRule, tool: string, also?: readonly string[], subjects?: readonly string[]): boolean {
  const done = also?.map((other) => ({ tool: other, subjects }));
  return askingRules({ tool, grant: { ...AI, ask: [rule] }, policies: [], also: done }, subjects).length > 0;
}

const EFFECTIVE: AskRule = { effects: ["write", "execute"] };

it.each<[what: string, rule: AskRule, tool: string, also: readonly string[], except: readonly string[]]>([
  ["a patch that edits", EFFECTIVE, "ApplyPatch", [], ["ApplyPatch"]],
  ["a patch that deletes", EFFECTIVE, "ApplyPatch", ["Delete"], ["ApplyPatch", "ApplyPatch/Delete"]],
  ["what patches delete", { tools: ["Delete"] }, "ApplyPatch", ["Delete"], ["ApplyPatch/Delete"]],
  ["typing at a shell", { tools: ["Bash"] }, "TerminalInput", ["Bash"], ["TerminalInput"]],
  ["a request to a port", { tools: ["ConnectPort"] }, "FetchPort", [], ["FetchPort"]],
  ["a command", EFFECTIVE, "Bash", [], ["Bash"]],
  ["a command under a wrapper", { match: "*sudo *" }, "Bash", [], ["Bash"]],
  ["a mounted tool", EFFECTIVE, "files__write", [], ["files__write"]],
])("always, given for %s, is not asked about again", (_, rule, tool, also, except) => {
  expect(asks(rule, tool, also)).toBe(true);
  const lifted = excepting(rule, { tool, also });
  expect(lifted).toEqual({ ...rule, except });
  expect(asks(lifted, tool, also)).toBe(false);
  expect(excepting(lifted, { tool, also })).toBe(lifted);
});

it.each<[given: string, tool: string, also: readonly string[], later: string, does: readonly string[]]>([
  ["a patch that edits", "ApplyPatch", [], "ApplyPatch", ["Delete"]],
  ["a patch that deletes", "ApplyPatch", ["Delete"], "Delete", []],
  ["typing at a shell", "TerminalInput", ["Bash"], "Bash", []],
  ["typing at a shell", "TerminalInput", ["Bash"], "TerminalExecute", ["Bash"]],
  ["a command", "Bash", [], "TerminalExecute", ["Bash"]],
  ["a command", "Bash", [], "OpenUrl", []],
  ["a tool of a device", "Apply", [], "ApplyPatch", []],
])("always, given for %s (%s %j), leaves the question about %s %j", (_, tool, also, later, does) => {
  expect(asks(excepting(EFFECTIVE, { tool, also }), later, does)).toBe(true);
});

it("an exception made by hand holds as it is written", () => {
  const deletes = ["ApplyPatch", ["Delete"]] as const;
  expect(asks({ except: ["ApplyPatch"] }, ...deletes)).toBe(true);
  expect(asks({ except: ["ApplyPatch", "Delete"] }, ...deletes)).toBe(false);
  expect(asks({ except: ["Apply*"] }, ...deletes)).toBe(false);
  expect(asks({ tools: ["Delete"], except: ["ApplyPatch"] }, ...deletes)).toBe(true);
});

it("before the input is known, a tool that may do more may be asked about", () => {
  expect(asks({ ...EFFECTIVE, except: ["ApplyPatch"] }, "ApplyPatch")).toBe(true);
  expect(asks({ ...EFFECTIVE, except: ["TerminalInput"] }, "TerminalInput")).toBe(false);
});

it("a rule about ports asks about requests to them too", () => {
  const rule = { tools: ["ConnectPort"], match: "localhost:80" };
  expect(asks(rule, "FetchPort", [], ["localhost:80"])).toBe(true);
  expect(asks(rule, "FetchPort", [], ["localhost:81"])).toBe(false);
});

/** Whether a rule asks about a read-only command. */
function asksReader(rule: AskRule, command = "git status"): boolean {
  const call = { tool: "Bash", effect: "read" } as const;
  return askingRules({ ...call, grant: { ...AI, ask: [rule] }, policies: [] }, [command]).length > 0;
}

describe("a read-only command", () => {
  it.each<[string, AskRule, boolean]>([
    ["what acts", EFFECTIVE, false],
    ["what acts and fits", { effects: ["execute"], match: "git *" }, false],
    ["what reads", { effects: ["read"] }, true],
    ["everything", {}, true],
    ["its tool", { tools: ["Bash"] }, true],
    ["its tool, among others", { tools: ["*"] }, true],
    ["its tool, which acts", { tools: ["Bash"], effects: ["execute"] }, true],
    ["its tool, which writes", { tools: ["Bash"], effects: ["write"] }, false],
    ["such a command of its tool", { tools: ["Bash"], match: "git *" }, true],
    ["such a command", { match: "git *" }, true],
    ["another command", { tools: ["Bash"], match: "rm *" }, false],
    ["its tool, but for all of its calls", { tools: ["Bash"], except: ["Bash"] }, false],
    ["its tool, but for such calls", { tools: ["Bash"], except: ["Bash/read"] }, false],
  ])("is asked about by a rule on %s: %j: %s", (_, rule, is) => {
    expect(asksReader(rule)).toBe(is);
  });

  it("that is always allowed leaves the question about commands that act", () => {
    const rule = { tools: ["Bash"] };
    const lifted = excepting(rule, { tool: "Bash", effect: "read", also: [] });
    expect(lifted).toEqual({ ...rule, except: ["Bash/read"] });
    expect(asksReader(lifted)).toBe(false);
    expect(asks(lifted, "Bash")).toBe(true);
    expect(asks(lifted, "TerminalExecute")).toBe(true);
  });

  it("needs no further yes once all commands are allowed", () => {
    expect(asksReader(excepting({}, { tool: "Bash", also: [] }))).toBe(false);
  });
});
