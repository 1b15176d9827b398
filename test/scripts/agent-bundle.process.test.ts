/** What a command of the built program loads: its own parts, all of them at its start. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { COMMAND_GROUPS } from "../../agent/cli/command-list.ts";
import { makeProgram, withChildren } from "../../agent/cli/program.ts";
import { AGENT_BUNDLE } from "../../scripts/tree.ts";

const PROGRAM = join(AGENT_BUNDLE, "dist/matrx.js");

/** What only an agent needs. */
const OF_AGENTS = /modelcontextprotocol|node_modules\/(pino|hono|chokidar|systeminformation|iconv-lite)\//;

const LATER = /\bimport\("(\.[^"]+\.js)"\)/g;

const LOADERS = ["whole.ts", "platform/run-program.ts", "platform/darwin/meter.ts"];

interface Part {
  readonly file: string;
  /** The sources in it, by esbuild's comments. */
  readonly sources: readonly string[];
  readonly atOnce: readonly string[];
  readonly later: readonly string[];
  /** Those of `later` that `agent/whole.ts` asks for, by itself or through LOADERS: done before the agent starts. */
  readonly first: readonly string[];
}

function partOf(file: string): Part {
  const text = readFileSync(file, "utf8");
  const named = (pattern: RegExp, within = text) =>
    [...within.matchAll(pattern)].map(([, name = ""]) => name);
  const files = (pattern: RegExp, within = text) =>
    named(pattern, within).map((name) => resolve(dirname(file), name));
  const sections = text.split(/^(?=\/\/ \S+\.[cm]?[jt]s$)/m);
  const whole = sections.filter((section) => LOADERS.some((source) => section.startsWith(`// ${source}\n`)));
  return {
    file,
    sources: named(/^ *(?:\/\/ |")((?:\.\.\/)*[\w@./-]+\.[cm]?[jt]s)(?:$|"\()/gm),
    atOnce: files(/^(?:import |\} from )[^;]*?"(\.[^"]+\.js)";$/gm),
    later: files(LATER),
    first: files(LATER, whole.join("")),
  };
}

/** A file of the bundle with all that is loaded before it runs. */
function withParts(file: string, seen = new Map<string, Part>()): Part[] {
  if (seen.has(file)) return [];
  const part = partOf(file);
  seen.set(file, part);
  for (const next of part.atOnce) withParts(next, seen);
  return [...seen.values()];
}

/** The file that the program loads for this source. */
function fileWith(source: string): string {
  const found = [...withParts(PROGRAM), ...partOf(PROGRAM).later.flatMap((file) => withParts(file))]
    .flatMap(({ file, later }) => [file, ...later])
    .find((file) => partOf(file).sources.includes(source));
  if (!found) throw new Error(`No file of the bundle has ${source}`);
  return found;
}

const sourcesOf = (parts: readonly Part[]) => parts.flatMap(({ sources }) => sources);

test("each word of the list is a command's name or alias, or what the program answers itself", async () => {
  const whole = await makeProgram();
  const listed = COMMAND_GROUPS.flatMap(({ words }) => words).filter((word) => !word.startsWith("-"));
  const names = whole.commands.filter((one) => one.name() !== "complete");
  expect(names.flatMap((one) => [one.name(), ...one.aliases()]).sort()).toEqual([...listed].sort());
});

test("a command explains itself as well without the groups that it does not need", async () => {
  const whole = await makeProgram();
  for (const name of whole.commands.map((one) => one.name())) {
    const [among, alone] = [whole, await makeProgram(name)].map((program) =>
      program.commands
        .filter((one) => one.name() === name)
        .flatMap(withChildren)
        .map((one) => one.helpInformation()),
    );
    expect(alone, name).toEqual(among);
  }
});

test("a slip, and no word at all, have all commands to choose from", async () => {
  for (const word of [undefined, "devcies", "help", "--help", "complete"]) {
    const names = (await makeProgram(word)).commands.map((one) => one.name());
    expect(names).toEqual(expect.arrayContaining(["up", "call", "completion", "version"]));
  }
});

test("the version is told without what a call needs, and a call is made without an agent", () => {
  const version = sourcesOf([...withParts(PROGRAM), ...withParts(fileWith("cli/commands/version.ts"))]);
  expect(version).toContain("cli/main.ts");
  expect(version.filter((source) => /cli\/client\/|shared\/api|node_modules\/ws\//.test(source))).toEqual([]);
  const call = sourcesOf(withParts(fileWith("cli/caller-commands.ts")));
  expect(call).toContain("cli/commands/call.ts");
  expect(call).toContain("../shared/api.ts");
  expect(call.filter((source) => /^agent\.ts$|^tools\//.test(source) || OF_AGENTS.test(source))).toEqual([]);
});

test("an agent that runs for weeks has all its parts from the start, whatever becomes of its package", () => {
  for (const name of ["up", "serve", "mcp"]) {
    const own = withParts(fileWith(`cli/run/${name}.ts`));
    const parts = [...own, ...own.flatMap(({ first }) => first.flatMap((file) => withParts(file)))];
    expect(sourcesOf(own)).toContain("whole.ts");
    const sources = sourcesOf(parts);
    expect(sources.filter((source) => OF_AGENTS.test(source)).length).toBeGreaterThan(50);
    const files = parts.map(({ file }) => file);
    expect(parts.flatMap(({ later }) => later).filter((file) => !files.includes(file))).toEqual([]);
  }
});
