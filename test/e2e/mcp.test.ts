/** The MCP server of a real relay with a real agent, for real clients of both eras. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive } from "../agent/tools/workbench.ts";
import { startAgent } from "./agent.ts";
import { type Connecting, connectMcp, ERAS, type Era, textOf } from "./mcp-client.ts";
import { Person } from "./person.ts";
import { fileIn, linesOf, type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const connect = (era: Era, path = "/mcp", more: Partial<Connecting> = {}) =>
  connectMcp(era, { url: new URL(path, rig.relay.url), token: rig.token, ...more });

/** What a client enables is enabled for its grant. */
async function ownToken(): Promise<string> {
  return (await (await Person.signIn(rig)).grant({ paths: null, ask: [] })).token;
}

const OF_NO_DEVICE = ["list_devices", "enable_tools"];

describe.each(ERAS)("a client of the era %s", (era) => {
  it("lists a device's own tools, and calls them", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Bash", "Read", "Write", "wait_call"]),
    );
    const file = fileIn(rig);
    const written = await client.callTool({
      name: "Write",
      arguments: { file_path: file, content: "hello\n" },
    });
    expect(written.isError).toBeFalsy();
    expect(readFileSync(file, "utf8")).toBe("hello\n");
    const read = await client.callTool({ name: "Read", arguments: { file_path: file } });
    expect(textOf(read)).toContain("hello");
  });

  it("names the device of each call to all devices", async () => {
    await using client = await connect(era);
    const { tools } = await client.listTools();
    for (const { name, inputSchema } of tools)
      if (!OF_NO_DEVICE.includes(name)) expect(inputSchema.required, name).toContain("device");
    const listed = await client.callTool({ name: "list_devices" });
    expect(listed.structuredContent).toMatchObject({ devices: [{ id: rig.device, state: "ONLINE" }] });
    const echo = { command: "echo over here" };
    const said = await client.callTool({ name: "Bash", arguments: { device: rig.device, ...echo } });
    expect(textOf(said)).toContain("over here");
    const lost = await client.callTool({ name: "Bash", arguments: echo });
    expect(lost.isError).toBe(true);
    expect(textOf(lost)).toContain("INVALID_PARAMETERS: device: is required");
    expect(textOf(lost)).toContain(rig.device);
  });

  it("hears how a call goes", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const heard: string[] = [];
    const onprogress = ({ message = "" }) => void heard.push(message);
    const command = "echo one; sleep 0.6; echo two";
    await client.callTool({ name: "Bash", arguments: { command } }, { onprogress });
    expect(heard).toEqual(["one", "two"]);
  });

  it("ends the process of a call that it cancels", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const stop = new AbortController();
    let pid = 0;
    const onprogress = ({ message = "" }) => {
      pid = Number(message);
      stop.abort();
    };
    const call = client.callTool(
      { name: "Bash", arguments: { command: "echo $$; sleep 300" } },
      { onprogress, signal: stop.signal },
    );
    await expect(call).rejects.toThrow();
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  it("has the result of a call whose device went away in the middle of it, and came back", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const begun = Promise.withResolvers<void>();
    const file = fileIn(rig);
    const command = `cd '${rig.folder}'; echo line >> '${file}'; echo begun; sleep 2; echo over`;
    const call = client.callTool(
      { name: "Bash", arguments: { command } },
      { onprogress: () => begun.resolve() },
    );
    await begun.promise;
    await rig.agent.child.kill();
    rig.agent = await startAgent(rig.dataDir);
    expect(textOf(await call)).toContain("over");
    expect(linesOf(file)).toEqual(["line"]);
  });

  it("keeps a working directory by a session's name", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const bash = async (command: string, session?: string) =>
      textOf(await client.callTool({ name: "Bash", arguments: { command, session } }));
    await bash(`cd '${rig.folder}'`, `work ${era}`);
    expect(await bash("pwd", `work ${era}`)).toContain(rig.folder);
    expect(await bash("pwd", "elsewhere")).not.toContain(rig.folder);
    expect(await bash("pwd")).not.toContain(rig.folder);
  });

  it("is shown the families that its address names, may call others, and gets more when it asks", async () => {
    const listening = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    await using client = await connect(era, `/mcp/d/${rig.device}?tools=shell,files`, {
      token: await ownToken(),
      onListening: listening.resolve,
      onChanged: changed.resolve,
    });
    const listed = async () =>
      (await client.listTools({}, { cacheMode: "bypass" })).tools.map(({ name }) => name);
    const before = await listed();
    expect(before).toEqual(expect.arrayContaining(["Bash", "Read", "SystemInfo", "enable_tools"]));
    for (const name of ["ListProcesses", "OpenUrl", "TerminalExecute"]) expect(before).not.toContain(name);
    const called = await client.callTool({ name: "ListProcesses", arguments: { filter: "node" } });
    expect(called.isError).toBeFalsy();
    const unknown = await client.callTool({ name: "enable_tools", arguments: { family: "webcam" } });
    expect(textOf(unknown)).toContain("INVALID_PARAMETERS: family");
    await listening.promise;
    const enabled = await client.callTool({ name: "enable_tools", arguments: { family: "system" } });
    expect(textOf(enabled)).toContain('"name":"StopProcess"');
    await changed.promise;
    expect(await listed()).toEqual(expect.arrayContaining([...before, "ListProcesses", "StopProcess"]));
    await using other = await connect(era, `/mcp/d/${rig.device}`);
    expect((await other.listTools()).tools.map(({ name }) => name)).not.toContain("StopProcess");
  });

  it("is shown the families of all devices", async () => {
    await using client = await connect(era, "/mcp?tools=terminals", { token: await ownToken() });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["TerminalExecute", "TerminalInput", "enable_tools"]));
    expect(names).not.toContain("Bash");
    const { content } = await client.callTool({ name: "enable_tools", arguments: { family: "shell" } });
    expect(JSON.stringify(content)).toContain('"required\\":[\\"device\\",\\"command\\"]');
  });

  it("hears that a device went and came back", async () => {
    const listening = Promise.withResolvers<void>();
    let heard = 0;
    await using _client = await connect(era, "/mcp", {
      onListening: listening.resolve,
      onChanged: () => void heard++,
    });
    await listening.promise;
    // Its agent dials again by itself.
    rig.line.cut();
    await expect.poll(() => heard, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
  });

  it("is told what was wrong", async () => {
    await using client = await connect(era, `/mcp/d/${rig.device}`);
    const wrong = await client.callTool({ name: "Read", arguments: { path: "x" } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toMatch(/INVALID_PARAMETERS.*file_path/s);
    const unknown = await client.callTool({ name: "Reed", arguments: {} });
    expect(textOf(unknown)).toMatch(/TOOL_NOT_FOUND.*Did you mean Read/s);
  });
});

it("an unknown family is refused with the list of those there are", async () => {
  const ask = (path: string) =>
    fetch(new URL(path, rig.relay.url), { headers: { Authorization: `Bearer ${rig.token}` } });
  for (const path of [
    `/mcp/d/${rig.device}?tools=webcam`,
    "/mcp?tools=files,webcam",
    `/v1/devices/${rig.device}/tools?format=mcp&tools=webcam`,
    `/v1/devices/${rig.device}/system-prompt?tools=`,
  ]) {
    const answer = await ask(path);
    expect(answer.status, path).toBe(400);
    expect(await answer.json(), path).toMatchObject({
      code: "INVALID_PARAMETERS",
      detail: expect.stringContaining("files, shell, terminals, system, desktop, ports, mounted"),
    });
  }
  const tools = await ask(`/v1/devices/${rig.device}/tools?format=openai&tools=system`);
  expect(await tools.text()).toContain("local_list_processes");
  expect(await (await ask(`/v1/devices/${rig.device}/system-prompt?tools=files`)).text()).not.toMatch(
    /local_bash/,
  );
});

it("a grant's own families are shown where the address names none", async () => {
  const person = await Person.signIn(rig);
  const { token } = await person.grant({ tool_families: ["system"], paths: null, ask: [] });
  const list = async (query: string) =>
    await (
      await fetch(new URL(`/v1/devices/${rig.device}/tools?format=mcp${query}`, rig.relay.url), {
        headers: { Authorization: `Bearer ${token}` },
      })
    ).text();
  expect(await list("")).toContain("local_list_processes");
  expect(await list("")).not.toContain("local_read");
  expect(await list("&tools=files")).toContain("local_read");
});
