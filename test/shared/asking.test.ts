/** What "always" lifts: what its person was shown, and nothing that only other calls of the tool do. */
import type { AskRule } from "@matrx/shared/access-rules.ts";
import { EFFECTS } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { askingRules, excepting } from "@matrx/shared/policy.ts";
import { expect, it } from "vitest";

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
  const lifted = excepting(rule, tool, also);
  expect(lifted).toEqual({ ...rule, except });
  expect(asks(lifted, tool, also)).toBe(false);
  expect(excepting(lifted, tool, also)).toBe(lifted);
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
  expect(asks(excepting(EFFECTIVE, tool, also), later, does)).toBe(true);
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
