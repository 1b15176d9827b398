/** Clients that others wrote, with a real relay and agent over HTTP, and with `matrx mcp` over stdio. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LLMock } from "@copilotkit/aimock";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isStepCount, streamText, type ToolSet } from "ai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { fileIn, type Rig, startRig } from "../../e2e/rig.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { pythonProgram } from "../../helpers/python-program.ts";
import { NEEDS_STRANGERS, strangersFile } from "../strangers.ts";

const python = await pythonProgram("mcp", "2.3.0");
const smolagents = await pythonProgram("smolagents", "1.26.0", ["smolagents[mcp]==1.26.0", "mcp==1.30.0"]);

const INSPECTOR = strangersFile("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const MCP_REMOTE = strangersFile("mcp-remote/dist/proxy.js");

let rig: Rig;
let url: string;
beforeAll(async () => {
  rig = await startRig();
  url = `${rig.relay.publicUrl}/mcp/d/${rig.device}`;
});
afterAll(() => rig?.stop());

/** Runs a program as a person would; rejects if it fails. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const home = temporaryFolder();
  const { stdout } = await promisify(execFile)(program, args, {
    env: { ...process.env, HOME: home, MATRX_HOME: join(home, "matrx"), MATRX_TOKEN: rig.token, ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}

const listSchema = z.object({ tools: z.array(z.object({ name: z.string() })) });
const resultSchema = z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) });
const inspectedSchema = z.object({ result: z.unknown() });

describe("MCP Inspector", NEEDS_STRANGERS, () => {
  const remote = () => [url, "--transport", "http", "--header", `Authorization: Bearer ${rig.token}`];
  const inspect = async (...args: string[]) => {
    const said = await run(process.execPath, [INSPECTOR, "--cli", ...args, "--format", "json", "-q"]);
    return inspectedSchema.parse(JSON.parse(said)).result;
  };

  it.each(["legacy", "auto", "modern"])("lists and calls tools over HTTP in the era %s", async (era) => {
    const wanted = [...remote(), "--protocol-era", era];
    const { tools } = listSchema.parse(await inspect(...wanted, "--method", "tools/list"));
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Bash", "Read", "wait_call"]));
    const call = ["--tool-name", "Bash", "--tool-args-json", '{"command":"echo inspected"}'];
    const said = await inspect(...wanted, "--method", "tools/call", ...call);
    expect(resultSchema.parse(said).content[0]?.text).toContain("inspected");
  });

  it("finds no schema that some client would not understand", async () => {
    await inspect(...remote(), "--method", "tools/list", "--strict");
  });

  it("lists tools over stdio", async () => {
    const said = await inspect(process.execPath, MATRX_BIN, "mcp", "--method", "tools/list", "--strict");
    expect(listSchema.parse(said).tools.length).toBeGreaterThan(5);
  });
});

describe("mcp-remote", NEEDS_STRANGERS, () => {
  it.each(["legacy", "auto"])("brings a device to a client that knows stdio only, %s", async (protocol) => {
    const client = new Client({ name: "test", version: "1" });
    const args = [MCP_REMOTE, url, "--transport", "http-only", "--protocol", protocol];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...args, "--header", `Authorization:Bearer ${rig.token}`],
      env: { ...(process.env as Record<string, string>), HOME: temporaryFolder() },
      stderr: "ignore",
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const heard: string[] = [];
    const onprogress = ({ message = "" }) => void heard.push(message);
    const command = "echo through-both; sleep 0.5";
    const said = await client.callTool({ name: "Bash", arguments: { command } }, { onprogress });
    expect(JSON.stringify(said.content)).toContain("through-both");
    expect(heard).toEqual(["through-both"]);
  });
});

describe("the first version of the TypeScript SDK", NEEDS_STRANGERS, () => {
  it("lists and calls tools, and hears how a call goes", async () => {
    const sdk = strangersFile("@modelcontextprotocol/sdk/dist/esm/client");
    const { Client: Earlier } = await import(`${sdk}/index.js`);
    const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);
    const headers = { Authorization: `Bearer ${rig.token}` };
    const client = new Earlier({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    const { tools } = listSchema.parse(await client.listTools());
    expect(tools.map(({ name }) => name)).toContain("Bash");
    const heard: string[] = [];
    const onprogress = ({ message = "" }) => void heard.push(message);
    const wanted = { name: "Bash", arguments: { command: "echo first-version; sleep 0.5" } };
    const said = await client.callTool(wanted, undefined, { onprogress });
    expect(JSON.stringify(said)).toContain("first-version");
    expect(heard).toEqual(["first-version"]);
  });
});

describe("the Python SDK", python.options, () => {
  it.each(["legacy", "auto"])("lists and calls tools over HTTP and stdio, %s", async (mode) => {
    const program = [process.execPath, MATRX_BIN, "mcp"];
    const said = await run(python.python, [
      join(import.meta.dirname, "python-client.py"),
      url,
      mode,
      ...program,
    ]);
    const wanted = {
      tools: expect.arrayContaining(["Bash", "Read"]),
      text: expect.stringContaining("from-python"),
      heard: ["from-python"],
    };
    expect(JSON.parse(said)).toEqual({ remote: wanted, local: wanted });
  });
});

describe("SmolAgents", smolagents.options, () => {
  it("works with our tools, and leaves out what is optional", async () => {
    const file = fileIn(rig);
    const program = [process.execPath, MATRX_BIN, "mcp", "--folder", rig.folder];
    const said = await run(smolagents.python, [
      join(import.meta.dirname, "smolagents-agent.py"),
      ...[file, ...program],
    ]);
    expect(readFileSync(file, "utf8")).toBe("written by an agent");
    expect(said).toMatch(/CODE:.*written by an agent/);
    expect(said).toContain("CALLED: read it");
    expect(said).toMatch(/SAW:[\s\S]*written by an agent/);
  });
});

describe("the AI SDK", NEEDS_STRANGERS, () => {
  it("runs a tool for a model that follows a script", async () => {
    const model = new LLMock({ port: 0, strict: true });
    const call = { name: "Bash", arguments: JSON.stringify({ command: "echo lamp-is-on" }) };
    model.on({ userMessage: "turn on the lamp", hasToolResult: false }, { toolCalls: [call] });
    model.on({ userMessage: "turn on the lamp", hasToolResult: true }, { content: "The lamp is on." });
    await model.start();
    onTestFinished(() => model.stop());
    const { createMCPClient } = await import(strangersFile("@ai-sdk/mcp/dist/index.js"));
    const headers = { Authorization: `Bearer ${rig.token}` };
    const mcp = await createMCPClient({ transport: { type: "http", url, headers } });
    onTestFinished(() => mcp.close());
    const provider = createOpenAICompatible({ name: "model", baseURL: `${model.url}/v1`, apiKey: "none" });
    const tools = (await mcp.tools()) as ToolSet;
    const result = streamText({
      ...{ model: provider("fake"), prompt: "turn on the lamp", tools, stopWhen: isStepCount(4) },
    });
    expect(await result.text).toBe("The lamp is on.");
    const steps = await result.steps;
    expect(JSON.stringify(steps[0]?.toolResults)).toContain("lamp-is-on");
  });
});
