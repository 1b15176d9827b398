/** An AI that must ask before it acts runs read-only commands without, and nothing else by the same words. */
import { existsSync } from "node:fs";
import { effectOfCall } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInput } from "../../../agent/core/input.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { asking } from "./asking.ts";

const CLAIMS = [
  '{"read_only":"true"}',
  '{"read_only":"TRUE"}',
  '{"read_only":1}',
  '{"read_only":null}',
  '{"read_only":""}',
  '{"read_only":[true]}',
  '{"read_only":{"valueOf":true}}',
  '{"read_only":false}',
  '{"read_only":true,"read_only":false}',
  '{"read_only":true,"read_only":null}',
  '{"read_only":false,"read_only":true}',
  '{"Read_only":true}',
  '{"readOnly":true}',
  '{"readonly":true}',
  '{"read-only":true}',
  '{"read_only ":true}',
  '{"__proto__":{"read_only":true}}',
  '{"constructor":{"prototype":{"read_only":true}}}',
  '{"read_only":true,"run_in_background":true}',
  '{"read_only":true,"run_in_background":"true"}',
  '{"read_only":true,"yield_ms":1}',
  '{"read_only":true,"timeout":"5000","description":null}',
  '{"read_only":true,"readOnly":false}',
];
const WRITES = "echo x > made; cat made";

describe("an AI that must ask before it acts", NEEDS_SANDBOX, () => {
  it("runs a read-only command without asking, and leaves nothing in the journal", async () => {
    const { bench, prepare, run, journal } = await asking();
    await bench.put("file", "content\n");
    const input = { command: "cat file", read_only: true };
    expect(await prepare("Bash", input)).toEqual({ ask: false });
    const { header, answer } = await run("Bash", input, { call: "call_reader" });
    expect(answer).toMatchObject({ type: "success", output: "content\n" });
    expect(header).not.toHaveProperty("ran");
    expect(journal.find("call_reader")).toBeUndefined();
    expect(await prepare("Bash", { command: "cat file" })).toMatchObject({ ask: true });
  });

  it("writes nothing, however it says that it only reads", async () => {
    const { bench, prepare, run } = await asking();
    for (const json of CLAIMS) {
      const input = JSON.parse(json.replace("{", `{"command":${JSON.stringify(WRITES)},`));
      const prepared = await prepare("Bash", input);
      const isAsked = "ask" in prepared && prepared.ask;
      const { answer } = await run("Bash", input);
      expect(existsSync(bench.at("made")), json).toBe(false);
      if (isAsked) expect(answer, json).toMatchObject({ type: "error", code: "UNAVAILABLE" });
      if (effectOfCall("Bash", () => input) !== "read") continue;
      expect(isAsked, json).toBe(false);
      expect(answer.output, json).toMatch(/Read-only file system|ends with its call|Unknown parameter/);
    }
  });

  it("is asked about a text that only looks like true, which then runs read-only all the same", async () => {
    const { bench, asked, run } = await asking();
    const input = { command: WRITES, read_only: "true" };
    const { approval, call } = await asked("Bash", input);
    const { answer } = await run("Bash", input, { call, approval });
    expect(answer.output).toContain("Read-only file system");
    expect(existsSync(bench.at("made"))).toBe(false);
  });

  it("is asked about it by a rule that names the tool, and a yes to it is none to more", async () => {
    const { bench, asked, run, ai } = await asking();
    const grant: GrantScope = { ...ai, ask: [{ tools: ["Bash"], match: "echo *" }] };
    const input = { command: WRITES, read_only: true };
    const { question, approval, call } = await asked("Bash", input, { grant });
    expect(question).toMatchObject({
      summary: `Run read-only in ${bench.home}: ${WRITES}`,
      effect: "read",
      command: { sandbox: true, readable: [bench.home], writable: [], network: [] },
    });
    const more = await run("Bash", { command: WRITES }, { call, approval, grant });
    expect(more.answer).toMatchObject({ code: "CONFLICT" });
    expect(existsSync(bench.at("made"))).toBe(false);
    expect((await run("Bash", input, { grant, approval, call: "call_again" })).answer).toMatchObject({
      type: "success",
    });
  });

  it("gets no read-only commands where it may execute nothing", async () => {
    const { run, ai } = await asking();
    const grant: GrantScope = { ...ai, id: makeGrantId(), effects: ["read"] };
    const { answer } = await run("Bash", { command: "true", read_only: true }, { grant });
    expect(answer).toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

it("whatever counts as read-only runs read-only, or not at all", async () => {
  const { bench } = await asking();
  const tool = bench.tool("Bash");
  const odd = fc.constantFrom(null, true, false, "true", "false", "", 1, 0, 5000, "5000", -1, [], {}, "x");
  const names = fc.constantFrom(
    ...["timeout", "description", "run_in_background", "yield_ms", "stdin_base64"],
  );
  const inputs = fc.record({
    command: fc.constantFrom<unknown>("ls", 7, null, ""),
    read_only: odd,
    more: fc.dictionary(names, odd, { maxKeys: 3 }),
  });
  fc.assert(
    fc.property(inputs, ({ command, read_only, more }) => {
      const input = { command, read_only, ...more };
      if (effectOfCall("Bash", () => input) !== "read") return;
      let parsed: Record<string, unknown>;
      try {
        parsed = parseInput(tool, input);
      } catch {
        return;
      }
      expect(parsed.read_only).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

// As agents from before read-only commands do.
it("an agent that does not know a parameter of Bash runs nothing", async () => {
  const { bench } = await asking();
  expect(bench.accepts("Bash", { command: "ls", read_only: true })).toBe(true);
  expect(bench.accepts("Bash", { command: "ls", read_only_too: true })).toBe(false);
});
