/** docs/guides/ai.md: its programs as processes, on a real relay and a real agent. The model is a fake that follows a script. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type ChatMessage, LLMock, type ToolCall } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { ROOT } from "../../scripts/tree.ts";
import { deviceToolsSchema } from "../../shared/api.ts";
import { modelNameOf } from "../../shared/effects.ts";
import { Line } from "../e2e/line.ts";
import { type Rig, startRig } from "../e2e/rig.ts";

const GUIDE = readFileSync(join(ROOT, "docs/guides/ai.md"), "utf8");
const PROGRAMS = ["fetch-loop.mjs", "ai-sdk.mjs"];
const toolsSchema = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      input_schema: z.looseObject({
        properties: z.record(z.string(), z.looseObject({})),
        required: z.array(z.string()).optional(),
      }),
    }),
  ),
});

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

test("the guide prints its programs as they are", () => {
  const printed = [...GUIDE.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code]) => [
    name,
    code,
  ]);
  expect(printed.map(([name]) => name)).toEqual(["device.mjs", "settings.mjs", ...PROGRAMS]);
  for (const [name, code] of printed)
    expect(code, name).toBe(readFileSync(join(ROOT, "docs/guides/ai", name ?? ""), "utf8"));
});

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  // The list of tools follows the registration.
  await vi.waitUntil(async () => (await servedTools()).length > 0, { timeout: 10_000 });
});
afterAll(() => rig?.stop());

/** A turn of the fake model: what it must have been told before, and what it says then. */
interface Turn {
  after: RegExp[];
  calls?: ToolCall[];
  says?: string;
}

function call(name: string, input: object): ToolCall {
  return { name, arguments: JSON.stringify(input), id: `call_${crypto.randomUUID()}` };
}

/** A model's API that follows a script; what is not in the script is an error to the program. */
async function fakeModel(turns: readonly Turn[]) {
  const model = new LLMock({ port: 0, strict: true });
  for (const [turn, { after, calls, says }] of turns.entries()) {
    const isTurn = (messages: ChatMessage[]) =>
      messages.filter(({ role }) => role === "assistant").length === turn &&
      after.every((words) => words.test(JSON.stringify(messages.filter(({ role }) => role !== "assistant"))));
    model.on(
      { predicate: ({ messages }) => isTurn(messages) },
      calls ? { toolCalls: calls } : { content: says ?? "" },
    );
  }
  await model.start();
  onTestFinished(() => model.stop());
  return model;
}

/** Runs a program of the guide, as its reader does. */
async function run(program: string, model: LLMock, token: string, task: string) {
  const file = join(rig.dataDir, `authorization-${crypto.randomUUID()}`);
  writeFileSync(file, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
  return start(program, [rig.device, task], {
    ...{ MATRX_RELAY: rig.relay.url, MATRX_TOKEN_FILE: file },
    ...{ OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "fake" },
  });
}

async function start(program: string, parameters: string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [join(ROOT, "docs/guides/ai", program), ...parameters], {
    env: { PATH: process.env.PATH, ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exit = new Promise((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, code: await exit };
}

/** Names of the tools that the model was offered, in each of its turns. */
function offered(model: LLMock): string[][] {
  return model.getRequests().map(({ body }) => {
    const { tools = [] } = body as { tools?: { function: { name: string } }[] };
    return tools.map((tool) => tool.function.name);
  });
}

async function served(path: string, token: string): Promise<Response> {
  return fetch(`${rig.base}${path}`, { headers: { Authorization: `Bearer ${token}` } });
}

async function servedTools() {
  return toolsSchema.parse(await (await served("/tools?format=anthropic", rig.token)).json()).tools;
}

/** The guide's own definitions (Tool Definitions for AI Models): each parameter with its type, the required ones with `!`. */
const OF_GUIDE: Record<string, Record<string, string>> = {
  local_bash: { command: "string!", timeout: "integer", run_in_background: "boolean" },
  local_read: { file_path: "string!", offset: "integer", limit: "integer" },
  local_write: { file_path: "string!", content: "string!" },
  local_edit: { file_path: "string!", old_string: "string!", new_string: "string!" },
  local_glob: { pattern: "string!", path: "string" },
  local_grep: { pattern: "string!", path: "string", include: "string", max_results: "integer" },
  local_screenshot: {},
  local_list_directory: { path: "string", show_hidden: "boolean" },
  local_system_info: {},
  local_open_url: { url: "string!" },
  local_open_path: { path: "string!" },
};

it("the definitions that a machine serves hold the guide's, parameter by parameter", async () => {
  const tools = await servedTools();
  const { tools: announced } = deviceToolsSchema.parse(await (await served("/tools", rig.token)).json());
  for (const [name, parameters] of Object.entries(OF_GUIDE)) {
    const schema = tools.find((tool) => tool.name === name)?.input_schema;
    // What cannot work here, such as a screenshot without a screen, is announced with the reason instead.
    const own = announced.find((tool) => modelNameOf(tool.name) === name);
    if (own?.unavailable !== undefined) {
      expect(schema, name).toBeUndefined();
      continue;
    }
    expect(schema, name).toMatchObject({ type: "object" });
    // A schema that refuses what it does not list would refuse parameters that are taken all the same.
    expect(schema, name).not.toHaveProperty("additionalProperties");
    const required = Object.keys(parameters).filter((key) => parameters[key]?.endsWith("!"));
    expect(schema?.required ?? [], name).toEqual(required);
    for (const [key, type] of Object.entries(parameters))
      expect(schema?.properties[key], `${name}: ${key}`).toMatchObject({ type: type.replace("!", "") });
  }
});

it("the prompt that a machine serves has a line of ours for each of its tools", async () => {
  const prompt = await (await served("/system-prompt", rig.token)).text();
  const tools = await servedTools();
  const lines = prompt.split("\n").filter((line) => /^- local_\w+: [^"]+$/.test(line));
  expect(lines.map((line) => line.slice(2, line.indexOf(":")))).toEqual(tools.map(({ name }) => name));
});

describe.each(PROGRAMS)("%s", (program) => {
  /** A folder of its own for each run. */
  function folder(): string {
    const path = join(realpathSync(rig.folder), crypto.randomUUID());
    mkdirSync(join(path, "sub"), { recursive: true });
    writeFileSync(join(path, "pixel.png"), Buffer.from(PNG, "base64"));
    return path;
  }

  it("does what the model asks for: at once, in one session, with errors and images told to it", {
    timeout: 60_000,
  }, async () => {
    const place = folder();
    /** Each of two commands ends only when the other has begun. */
    const meet = (own: string, other: string) =>
      call("local_bash", {
        command: `cd '${place}'; touch ${own}; until [ -e ${other} ]; do sleep 0.02; done; echo ${own} met ${other}`,
        timeout: 20_000,
      });
    const model = await fakeModel([
      { after: [], calls: [meet("a", "b"), meet("b", "a")] },
      {
        after: [/a met b/, /b met a/],
        calls: [
          call("local_write", { file_path: join(place, "note.txt"), content: "written by a model\n" }),
          call("local_read", { file_path: join(place, "missing.txt") }),
          call("local_bash", { command: `cd '${place}/sub'; printf '\\342\\200\\250 read'` }),
        ],
      },
      {
        after: [/Error NOT_FOUND: [^"]*missing\.txt/, /"\u2028 read/],
        calls: [
          call("local_bash", { command: "pwd > where.txt" }),
          call("local_read", { file_path: join(place, "pixel.png") }),
        ],
      },
      {
        after: [new RegExp(`data:image/png;base64,${PNG.slice(0, 24).replaceAll("+", "\\+")}`)],
        says: "All done.",
      },
    ]);
    const ended = await run(program, model, rig.token, `Work in ${place}`);
    expect(ended).toEqual({ stdout: "All done.\n", stderr: "", code: 0 });
    expect(readFileSync(join(place, "note.txt"), "utf8")).toBe("written by a model\n");
    expect(readFileSync(join(place, "sub/where.txt"), "utf8")).toBe(`${place}/sub\n`);
    expect(JSON.stringify(model.getRequests())).not.toContain(rig.token);

    const tools = await servedTools();
    for (const names of offered(model)) expect(names).toEqual(tools.map(({ name }) => name));
    const prompt = await (await served("/system-prompt", rig.token)).text();
    const [first] = model.getRequests();
    expect(first?.body).toMatchObject({
      messages: [
        { role: "system", content: prompt },
        { role: "user", content: `Work in ${place}` },
      ],
    });
  });

  it("offers a token that may only read nothing else, and tells the model when it tries all the same", async () => {
    const place = folder();
    const token = await rig.relay.token("read");
    const model = await fakeModel([
      {
        after: [],
        calls: [
          call("local_read", { file_path: join(place, "pixel.png") }),
          call("local_write", { file_path: join(place, "note.txt"), content: "no" }),
          call("local_bash", { command: `touch '${place}/touched'` }),
        ],
      },
      { after: [/PERMISSION_DENIED|unavailable tool/], says: "I may not." },
    ]);
    expect(await run(program, model, token, "Write a note")).toEqual({
      ...{ stdout: "I may not.\n", stderr: "", code: 0 },
    });
    expect(["note.txt", "touched"].filter((name) => existsSync(join(place, name)))).toEqual([]);
    for (const names of offered(model)) {
      expect(names).toContain("local_read");
      expect(names.filter((name) => /write|bash$|edit|delete|open|screenshot/.test(name))).toEqual([]);
    }
  });

  it("says in a line what is missing, or cannot be reached", async () => {
    const file = join(rig.dataDir, `authorization-${crypto.randomUUID()}`);
    const line = await Line.open();
    await line.close();
    const nowhere = `http://127.0.0.1:${line.port}`;
    const settings = {
      ...{ MATRX_RELAY: rig.relay.url, MATRX_TOKEN_FILE: file },
      ...{ OPENAI_BASE_URL: nowhere, OPENAI_API_KEY: "none", OPENAI_MODEL: "fake" },
    };
    const task = [rig.device, "Anything"];
    const said = async (parameters: string[], environment: Record<string, string>) => {
      const { stdout, stderr, code } = await start(program, parameters, environment);
      expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
      expect(stderr.trimEnd().split("\n"), stderr).toHaveLength(1);
      return stderr;
    };
    expect(await said([], settings)).toContain('PROGRAM DEVICE "the task"');
    expect(await said(task, { MATRX_RELAY: nowhere })).toMatch(/MATRX_TOKEN_FILE, OPENAI_BASE_URL, /);
    expect(await said(task, settings)).toMatch(/no such file.*authorization/);
    writeFileSync(file, `Authorization: Bearer ${rig.token}\n`, { mode: 0o600 });
    expect(await said(task, { ...settings, MATRX_RELAY: nowhere })).toMatch(
      /^The relay at \S+ cannot be reached: .*ECONNREFUSED/,
    );
    expect(await said(task, settings)).toMatch(/API.*ECONNREFUSED/);
  });

  it("says what is wrong when the relay does not let it in", async () => {
    const model = await fakeModel([]);
    const { code, stderr } = await run(program, model, "nonsense", "Anything");
    expect(code).toBe(1);
    expect(stderr).toMatch(/401 .*UNAUTHENTICATED/);
    expect(model.getRequests()).toEqual([]);
  });
});
