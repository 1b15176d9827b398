/** A command of an AI grant tries to reach what it must not. Each attempt is real: without a sandbox, most succeed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/tree.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { type Escape, escapes } from "./escapes.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";
import { NO_SCENE, openScene, type Scene, SECRET } from "./scene.ts";

const ALL = escapes(NO_SCENE);

describe("a command in the sandbox cannot", NEEDS_SANDBOX, () => {
  it.each(ALL)("$name", ({ name }) => expectStopped(name));
});

describe("a command in the sandbox of an agent that runs as root cannot", NEEDS_ROOT, () => {
  it.each(ALL)("$name", ({ name }) => expectStopped(name));
});

describe("without a sandbox, a command can", NEEDS_SANDBOX, () => {
  it.each(ALL.filter(({ worksFor }) => worksFor === "anyone"))("$name", ({ name }) => expectDone(name));
});

describe("without a sandbox, root's command can", NEEDS_ROOT, () => {
  it.each(ALL.filter(({ worksFor }) => worksFor === "root"))("$name", ({ name }) => expectDone(name));
});

it("is tried in more than forty ways, each with a name of its own", () => {
  expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
  expect(ALL.length).toBeGreaterThan(40);
});

it("is told about in docs/security.md, attempt by attempt", () => {
  const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
  const [, section = ""] = page.split("\n## Escape attempts\n");
  const [, table = ""] = section.split("|---|---|\n");
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n");
  expect(rows).toEqual(ALL.map(({ name, stoppedBy }) => `| ${name} | ${stoppedBy} |`));
});

async function expectStopped(name: string): Promise<void> {
  const scene = await openScene();
  const tried = find(name, scene);
  const output = await scene.confined(tried.commands);
  expect(output).not.toMatch(new RegExp(`${SECRET}|ESCAPED`));
  expect(tried.hasEscaped?.(scene) ?? false).toBe(false);
  // The folder works as ever.
  expect(await scene.confined(["echo fine > file; cat file"])).toBe("fine\n");
}

async function expectDone(name: string): Promise<void> {
  const scene = await openScene();
  const tried = find(name, scene);
  const output = await scene.free(tried.commands);
  expect(tried.hasEscaped?.(scene) ?? new RegExp(`${SECRET}|ESCAPED`).test(output), output).toBe(true);
}

function find(name: string, scene: Scene): Escape {
  const tried = escapes(scene).find((one) => one.name === name);
  if (!tried) throw new Error(`no attempt ${name}`);
  return tried;
}
