/** MCP servers that others wrote, mounted on a real agent and used through a real relay: by REST, and over MCP. */
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { agentEnvironment } from "../../../scripts/start/agent.ts";
import { STRANGERS } from "../../../scripts/tree.ts";
import { deviceToolsSchema } from "../../../shared/api.ts";
import type { Answer } from "../../../shared/caller/to-caller.ts";
import { NEEDS_SANDBOX } from "../../agent/sandbox/needs-sandbox.ts";
import { startAgent } from "../../e2e/agent.ts";
import { connectMcp, ERAS, textOf } from "../../e2e/mcp-client.ts";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { NEEDS_STRANGERS, strangersFile } from "../strangers.ts";

let rig: Rig;
const names = async () => {
  const { relay, token, device } = rig;
  const { tools } = await relay.request({ token }, `GET /v1/devices/${device}/tools`, deviceToolsSchema);
  return tools.filter(({ unavailable }) => unavailable === undefined).map(({ name }) => name);
};

describe("mounted", NEEDS_STRANGERS, () => {
  beforeAll(async () => {
    rig = await startRig();
    await rig.agent.child.stop(5000);
    const files = strangersFile("@modelcontextprotocol/server-filesystem/dist/index.js");
    const everything = strangersFile("@modelcontextprotocol/server-everything/dist/index.js");
    const command = process.execPath;
    const mcpServers = {
      files: { command, args: [files, rig.folder] },
      everything: { command, args: [everything, "stdio"] },
      ...(!NEEDS_SANDBOX.skip && {
        confined: {
          ...{ command, args: [files, rig.folder, "/etc"] },
          sandbox: { folders: [rig.folder, STRANGERS, dirname(realpathSync(command))] },
        },
      }),
    };
    const config = join(String(agentEnvironment(rig.dataDir).MATRX_HOME), "config.json");
    const written = JSON.parse(readFileSync(config, "utf8"));
    writeFileSync(config, JSON.stringify({ ...written, mcpServers }), { mode: 0o600 });
    rig.agent = await startAgent(rig.dataDir);
    await rig.agent.registered();
  });
  afterAll(() => rig?.stop());

  async function call(tool: string, input: object): Promise<Answer> {
    const response = await fetch(`${rig.base}/tools/${tool}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${rig.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(input),
    });
    return (await response.json()) as Answer;
  }

  it("their tools are the device's", async () => {
    await expect
      .poll(names)
      .toEqual(expect.arrayContaining(["files__read_text_file", "everything__echo", "everything__get-sum"]));
  });

  it("server-filesystem writes, reads, lists and stays in its folder", async () => {
    const path = join(rig.folder, "note.txt");
    expect(await call("files__write_file", { path, content: "from afar" })).toMatchObject({
      type: "success",
    });
    expect(readFileSync(path, "utf8")).toBe("from afar");
    expect(await call("files__read_text_file", { path })).toMatchObject({ output: "from afar" });
    expect((await call("files__list_directory", { path: rig.folder })).output).toContain("[FILE] note.txt");
    expect(await call("files__read_text_file", { path: "/etc/passwd" })).toMatchObject({
      ...{ code: "TOOL_EXECUTION_FAILED", hop: "tool" },
      output: expect.stringContaining("outside allowed directories"),
    });
    expect(await call("files__read_text_file", {})).toMatchObject({ code: "INVALID_PARAMETERS" });
  });

  it("server-everything answers with text, pictures, links and data", async () => {
    expect((await call("everything__echo", { message: "hello" })).output).toContain("hello");
    expect((await call("everything__get-sum", { a: 20, b: 22 })).output).toContain("42");
    expect((await call("everything__get-tiny-image", {})).image?.media_type).toBe("image/png");
    const { structured } = await call("everything__get-structured-content", { location: "New York" });
    expect(structured).toMatchObject({ temperature: expect.any(Number) });
    const { content } = await call("everything__get-resource-links", { count: 3 });
    expect(content?.filter(({ type }) => type === "resource_link")).toHaveLength(3);
  });

  it.each(ERAS)("server-everything says over MCP how far it is, and is cancelled, %s", async (era) => {
    const url = new URL(`${rig.relay.publicUrl}/mcp/d/${rig.device}`);
    await using client = await connectMcp(era, { url, token: rig.token });
    const heard: number[] = [];
    const name = "everything__trigger-long-running-operation";
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    const said = await client.callTool({ name, arguments: { duration: 1, steps: 2 } }, { onprogress });
    expect(z.string().parse(textOf(said))).toContain("completed");
    expect(heard).toContain(1);
    const stop = new AbortController();
    const endless = client.callTool(
      { name, arguments: { duration: 600, steps: 1200 } },
      { onprogress: () => stop.abort(), signal: stop.signal },
    );
    await expect(endless).rejects.toThrow();
    expect(
      textOf(await client.callTool({ name: "everything__echo", arguments: { message: "on" } })),
    ).toContain("on");
  });

  it(
    "server-filesystem in the sandbox sees its folder, and nothing of what it may otherwise",
    NEEDS_SANDBOX,
    async () => {
      await expect.poll(names).toContain("confined__read_text_file");
      const path = join(rig.folder, "confined.txt");
      writeFileSync(path, "seen");
      expect(await call("confined__read_text_file", { path })).toMatchObject({ output: "seen" });
      // The server itself would allow it.
      const outside = await call("confined__read_text_file", { path: "/etc/hostname" });
      expect(outside).toMatchObject({
        code: "TOOL_EXECUTION_FAILED",
        output: expect.stringContaining("ENOENT"),
      });
    },
  );
});
