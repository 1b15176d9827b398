/** Which calls the feed shows at once, and what it says that they were about. */

import type { ApprovalView } from "@matrx/shared/approval.ts";
import { describe, expect, test } from "vitest";
import { type EndedCall, isLook } from "../../../web/src/features/activity/calls.ts";
import { outcomeOf } from "../../../web/src/features/activity/outcome-of.ts";
import type { Entry } from "../../../web/src/features/settings/record/entries.ts";
import { subjectOf } from "../../../web/src/features/settings/record/entry-words.ts";
import { inTellingOrder } from "../../../web/src/ui/telling-input.ts";

const call = (changes: Partial<EndedCall>): EndedCall => ({
  ...{ call: "1", device: "laptop-4k7m2x9qpa", tool: "ListDirectory", effect: "read", outcome: "success" },
  ...{ at: "2026-02-12T10:30:00.000Z", maker: { id: "grant_1", credential: "person" }, input: {} },
  ...changes,
});
const asFilesAsk = { path: "/home/ann", show_hidden: "false", limit: "5000" };

describe("what pages look at by themselves is folded", () => {
  test.each<[string, Partial<EndedCall>]>([
    ["a folder", { input: asFilesAsk }],
    ["where the person's folders begin", { input: { show_hidden: "true", limit: "5000" } }],
    ["the next piece of a long folder", { input: { ...asFilesAsk, after: "m" } }],
    ["how loaded a machine is", { tool: "SystemInfo" }],
  ])("%s", (_, changes) => expect(isLook(call(changes))).toBe(true));

  test.each<[string, Partial<EndedCall>]>([
    ["an AI's look of the same form", { input: asFilesAsk, maker: { id: "2", credential: "ai" } }],
    ["a guest's", { input: asFilesAsk, maker: { id: "3", credential: "guest" } }],
    ["whose maker is not known", { tool: "SystemInfo", maker: { id: "4" } }],
    ["one that failed", { input: asFilesAsk, outcome: "error" }],
    ["one that somebody typed", { input: { path: "/home/ann" } }],
    ["a part of what a machine is", { tool: "SystemInfo", input: { include: "disks" } }],
  ])("but not %s", (_, changes) => expect(isLook(call(changes))).toBe(false));
});

describe("an entry of the record names what its call was about", () => {
  const subject = (input: Record<string, string>) => subjectOf({ type: "call", input } as unknown as Entry);

  test.each<[string | undefined, Record<string, string>]>([
    ["/home/ann", { limit: "5000", path: "/home/ann", show_hidden: "false" }],
    ["/home/ann/a.txt", { content: "Beans", file_path: "/home/ann/a.txt" }],
    ["/home/ann/a.txt", { destination: "/tmp", overwrite: "true", source: "/home/ann/a.txt" }],
    ["make test", { cwd: "/home/ann", command: "make test", timeout: "5" }],
    ["term_1", { wait_ms: "10", terminal: "term_1" }],
    ["pid: 4711", { pid: "4711" }],
    [undefined, { limit: "5000", show_hidden: "false" }],
    [undefined, {}],
  ])("%s", (about, input) => expect(subject(input)).toBe(about));

  test("and a card of the feed begins with it", () => {
    const order = inTellingOrder({ limit: "5000", show_hidden: "true", path: "/home/ann" });
    expect(order.map(([name]) => name)).toEqual(["path", "limit", "show_hidden"]);
  });
});

describe("a call that ended before it ran", () => {
  const outcome = (decided_by: string | null) =>
    outcomeOf(
      { state: "cancelled", for: null, edited: false, decided_by, note: null } as ApprovalView,
      false,
    );

  test("was decided by nobody", () => expect(outcome(null)).toContain("before anybody decided"));

  test("or was allowed, and that is told", () =>
    expect(outcome("Firefox")).toBe("Firefox allowed it, but the call ended before it ran"));
});
