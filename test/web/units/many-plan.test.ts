/** What is said about several machines before and after a tool runs on them. */
import { describe, expect, test } from "vitest";
import type { DeviceView } from "../../../shared/api.ts";
import type { Tool } from "../../../web/src/data/tools.ts";
import type { PartRun } from "../../../web/src/features/many/batch.ts";
import { names } from "../../../web/src/features/many/names.ts";
import { otherChecks, planOf } from "../../../web/src/features/many/plan.ts";
import { againQuestion, runQuestion } from "../../../web/src/features/many/question.ts";
import { endingOf, standOf, summaryOf } from "../../../web/src/features/many/stand.ts";
import { unionOf } from "../../../web/src/features/many/union.ts";
import type { Machine } from "../../../web/src/features/many/use-machines.ts";
import { outcomeOf } from "../../../web/src/features/tools/outcome.ts";
import type { Run } from "../../../web/src/features/tools/run.ts";

const NOTHING = { rights: new Map(), checks: new Map(), input: undefined };

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: "", effect: "read", input_schema: { type: "object" }, ...more };
}

function machine(id: string, tools: readonly Tool[], more: Partial<DeviceView> = {}): Machine {
  const view: DeviceView = {
    ...{ id, name: id, kind: "agent", state: "ONLINE", last_seen: null, proof: null, hostname: null },
    ...{ os: null, os_version: null, agent_version: null, created: "2026-01-01T00:00:00Z", ...more },
  };
  return { id, name: id, view, tools };
}

function union(machines: readonly Machine[], name: string) {
  const all = unionOf(new Map(machines.map(({ id, tools = [] }) => [id, tools])));
  const found = all.find((each) => each.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe("the tools of several machines", () => {
  test("are listed once, with the gravest effect, and those for programs are left out", () => {
    const machines = [
      machine("a", [tool("X"), tool("Hidden", { model: { hidden: true } })]),
      machine("b", [tool("X", { effect: "execute" }), tool("Y")]),
    ];
    const all = unionOf(new Map(machines.map(({ id, tools = [] }) => [id, tools])));
    expect(all.map(({ name, effect, on }) => [name, effect, on.size])).toEqual([
      ["X", "execute", 2],
      ["Y", "read", 1],
    ]);
  });

  test("take the same input where schemas differ in order and words only; most machines make the form", () => {
    const text = { type: "string", description: "one" };
    const other = { description: "two", type: "string" };
    const machines = [
      machine("a", [
        tool("X", { input_schema: { type: "object", properties: { title: { type: "number" } } } }),
      ]),
      machine("b", [tool("X", { input_schema: { type: "object", properties: { title: text } } })]),
      machine("c", [tool("X", { input_schema: { properties: { title: other }, type: "object" } })]),
    ];
    const { variants } = union(machines, "X");
    expect(variants.map(({ devices }) => devices)).toEqual([["b", "c"], ["a"]]);
  });
});

describe("a plan", () => {
  test("tells why a machine can't take the call now", () => {
    const machines: Machine[] = [
      machine("ready", [tool("X")]),
      machine("off", [tool("X")], { state: "OFFLINE" }),
      machine("paused", [tool("X")], { paused: "everyone" }),
      machine("for-ai", [tool("X")], { paused: "ai" }),
      machine("without", [tool("Y")]),
      machine("broken", [tool("X", { unavailable: "no screen" })]),
      { id: "gone", name: "gone", view: undefined, tools: undefined },
    ];
    const plan = planOf(union(machines, "X"), machines, NOTHING);
    expect(plan.able.map(({ id }) => id)).toEqual(["ready", "for-ai"]);
    const obstacles = Object.fromEntries(plan.machines.map(({ id, obstacle }) => [id, obstacle]));
    expect(obstacles).toMatchObject({
      off: expect.stringContaining("Offline"),
      paused: expect.stringContaining("matrx resume"),
      without: "It has no tool “X”.",
      broken: "It can't work there now: no screen",
      gone: expect.stringContaining("not one of your machines"),
    });
  });

  test("checks the input against the schema of each machine", () => {
    const machines = [
      machine("a", [tool("X")]),
      machine("b", [tool("X", { input_schema: { type: "object", required: ["path"] } })]),
    ];
    const x = union(machines, "X");
    const plan = planOf(x, machines, { ...NOTHING, checks: otherChecks(x), input: {} });
    expect(plan.able.map(({ id }) => id)).toEqual(["a"]);
    expect(plan.machines[1]?.obstacle).toMatch(/expects different input\. path: /);
  });

  test("is asked about if the tool changes something, and names what that means and where", () => {
    const effects = ["read", "write", "execute"] as const;
    const [read, write, execute] = effects.map((effect) => {
      const machines = [machine("a", [tool("X", { effect })]), machine("b", [tool("X", { effect })])];
      return runQuestion("X", planOf(union(machines, "X"), machines, NOTHING));
    });
    expect(read).toBeUndefined();
    expect(write?.text).toBe("Run X on 2 machines? It changes files on a and b.");
    expect(execute?.text).toContain("delete anything that you can on a and b.");
  });
});

describe("how it went", () => {
  const part = { device: "a", machine: "a", effect: "execute", state: "sent", run: 1 } as const;
  const run = { id: 1, device: "a", tool: "X", effect: "execute", input: {}, began: 0 } as const;
  const sent = (more: Pick<Run, "state"> & Partial<Run>): PartRun => ({ part, run: { ...run, ...more } });
  const bad = { tone: "bad", text: "Failed" } as const;

  test("is told apart: done, failed, stopped, not known", () => {
    expect(endingOf(sent({ state: "running" }))).toBeUndefined();
    expect(endingOf(sent({ state: "asked" }))).toBeUndefined();
    expect(standOf(sent({ state: "asked" })).text).toBe("Needs approval");
    expect(endingOf(sent({ state: "over", outcome: { tone: "ok", text: "" } }))).toBe("done");
    expect(endingOf(sent({ state: "over", outcome: bad }))).toBe("failed");
    expect(endingOf(sent({ state: "over", outcome: { tone: "idle", text: "" } }))).toBe("stopped");
    expect(endingOf(sent({ state: "left" }))).toBe("unknown");
    const unclear = outcomeOf({ type: "error", code: "OUTCOME_UNKNOWN" }, 0);
    expect(endingOf(sent({ state: "over", outcome: unclear }))).toBe("unknown");
    expect(standOf(sent({ state: "over", outcome: unclear })).text).toBe("Not known");
    expect(endingOf({ part: { ...part, state: "waiting" }, run: undefined })).toBeUndefined();
    expect(endingOf({ part: { ...part, state: "unsent" }, run: undefined })).toBe("unsent");
  });

  test("is summed up, and what may have run already is said before it runs again", () => {
    expect(summaryOf(["done", "failed", undefined, "done"])).toBe("2 done, 1 failed");
    expect(againQuestion("X", [sent({ state: "left" })])?.text).toContain("It may have run on a already");
    expect(againQuestion("X", [sent({ state: "over", outcome: bad })])?.text).not.toContain("already");
  });

  test("names few machines, and counts many", () => {
    expect(names(["a"])).toBe("a");
    expect(names(["a", "b", "c"])).toBe("a, b and c");
    expect(names(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e and 2 more");
  });
});
