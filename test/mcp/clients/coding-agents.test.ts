/** Coding agents that a person has installed, each led by a model that follows a script: they use a device's tools. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { needsRare } from "../../helpers/parts.ts";

const WITHIN = 50_000;
const WISH = "turn on the lamp";
const INPUT = { command: "echo lamp-is-$((40 + 2))" };
const DONE = "The lamp is on.";

let rig: Rig;
let url: string;
beforeAll(async () => {
  rig = await startRig();
  url = `${rig.relay.publicUrl}/mcp/d/${rig.device}`;
});
afterAll(() => rig?.stop());

/** Options of a test with a program that is too large to install for it. */
function needsProgram(name: string) {
  const isIn = (folder: string) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  const found = (process.env.PATH ?? "").split(delimiter).some(isIn);
  return needsRare(found, `${name} is not on the PATH: install it as its makers say`);
}

/** What a program printed. Rejects if it fails. */
function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { PATH: process.env.PATH, HOME: cwd, ...env }, timeout: WITHIN };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    );
    child.stdin?.end();
  });
}

/** Calls the tool of this name, then says that it is done. */
async function scriptedModel(tool: string): Promise<string> {
  const model = new LLMock({ port: 0 });
  const call = { name: tool, arguments: JSON.stringify(INPUT) };
  model.on({ userMessage: WISH, hasToolResult: false }, { toolCalls: [call] });
  model.on({ userMessage: WISH, hasToolResult: true }, { content: DONE });
  await model.start();
  onTestFinished(() => model.stop());
  return model.url;
}

/** What `matrx mcp --print-config` prints for a client: `matrx` is its name for this machine. */
async function printedFor(client: string): Promise<string> {
  const args = [MATRX_BIN, "mcp", "--json", "--folder", rig.folder, "--print-config", client];
  return await run(process.execPath, args, temporaryFolder(), {});
}

/** The variable that has a program find our settings, and not a person's. */
const ownHome = (folder: string) => ({ MATRX_HOME: join(folder, "matrx") });

/** Each resolves with what the program printed. `servers` is its configuration of servers. */
async function runClaude(servers: object, tool: string): Promise<string> {
  const folder = temporaryFolder();
  const config = join(folder, "mcp.json");
  writeFileSync(config, JSON.stringify(servers));
  const args = ["-p", WISH, "--mcp-config", config, "--strict-mcp-config", "--allowedTools", tool];
  return await run("claude", [...args, "--output-format", "stream-json", "--verbose"], folder, {
    ...ownHome(folder),
    ANTHROPIC_BASE_URL: await scriptedModel(tool),
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
}

async function runOpencode(servers: object, tool: string): Promise<string> {
  const folder = temporaryFolder();
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${await scriptedModel(tool)}/v1`, apiKey: "none" },
    models: { fake: {} },
  };
  const config = { provider: { script: provider }, model: "script/fake", permission: { "*": "allow" } };
  writeFileSync(join(folder, "opencode.json"), JSON.stringify({ ...config, ...servers }));
  const env = { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" };
  return await run("opencode", ["run", "--format", "json", WISH], folder, { ...ownHome(folder), ...env });
}

async function runCodex(servers: string, namespace: string): Promise<string> {
  const folder = temporaryFolder();
  const settings = `model = "fake"
model_provider = "script"
approval_policy = "never"
[model_providers.script]
name = "script"
base_url = "${await scriptedResponses(namespace)}/v1"
wire_api = "responses"
`;
  writeFileSync(join(folder, "config.toml"), settings + servers);
  const args = [
    "exec",
    "--skip-git-repo-check",
    "--json",
    "--dangerously-bypass-approvals-and-sandbox",
    WISH,
  ];
  const env = { ...ownHome(folder), CODEX_HOME: folder, MATRX_TOKEN: rig.token };
  return await run("codex", args, folder, env);
}

function expectDone(said: string): void {
  expect(said).toContain("lamp-is-42");
  expect(said).toContain(DONE);
}

describe("a device's tool is used, by the relay's address, by", () => {
  const headers = () => ({ Authorization: `Bearer ${rig.token}` });

  it("Claude Code", needsProgram("claude"), async () => {
    const home = { type: "http", url, headers: headers() };
    expectDone(await runClaude({ mcpServers: { home } }, "mcp__home__Bash"));
  });

  it("opencode", needsProgram("opencode"), async () => {
    const home = { type: "remote", url, oauth: false, headers: headers() };
    expectDone(await runOpencode({ mcp: { home } }, "home_Bash"));
  });

  it("Codex", needsProgram("codex"), async () => {
    const home = `[mcp_servers.home]\nurl = "${url}"\nbearer_token_env_var = "MATRX_TOKEN"\nrequired = true\n`;
    expectDone(await runCodex(home, "mcp__home"));
  });
});

describe("this machine's tool is used, by the configuration that we print, by", () => {
  it("Claude Code", needsProgram("claude"), async () => {
    expectDone(await runClaude(JSON.parse(await printedFor("claude-code")), "mcp__matrx__Bash"));
  });

  it("opencode", needsProgram("opencode"), async () => {
    expectDone(await runOpencode(JSON.parse(await printedFor("opencode")), "matrx_Bash"));
  });

  it("Codex", needsProgram("codex"), async () => {
    expectDone(await runCodex(await printedFor("codex"), "mcp__matrx"));
  });
});

/** A model for Codex, which puts each server's tools into a namespace: aimock has none. */
async function scriptedResponses(namespace: string): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const call = {
      ...{ type: "function_call", id: "item_1", call_id: "call_1", status: "completed" },
      ...{ namespace, name: "Bash", arguments: JSON.stringify(INPUT) },
    };
    const text = { type: "output_text", text: DONE, annotations: [] };
    const words = { type: "message", id: "item_2", role: "assistant", status: "completed", content: [text] };
    const item = body.includes("function_call_output") ? words : call;
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const events = [
      { type: "response.created", response: { id: "response_1" } },
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { id: "response_1", status: "completed", output: [item], usage },
      },
    ];
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
