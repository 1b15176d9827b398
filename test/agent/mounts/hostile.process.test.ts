/** Servers that crash, hang, lie or flood: their calls end, nothing else breaks, and nothing of them is left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { LIMITS } from "@matrx/shared/limits.ts";
import { manifestSchema } from "@matrx/shared/tool.ts";
import { describe, expect, it } from "vitest";
import { endLeftovers } from "../../../agent/mounts/child-transport.ts";
import { TOOLS_PER_SERVER } from "../../../agent/mounts/offered-tools.ts";
import { goodServer, mounted, names, oddServer, processesOfOdd, QUICK } from "./mounted.ts";

describe("a server that ends", () => {
  it("while a call runs fails that call, which is not run again, and is started again", async () => {
    const at = await mounted({ good: goodServer() }, QUICK);
    await at.mounts.settled;
    const { answer, header } = await at.call("good__die");
    expect(answer).toMatchObject({ code: "TOOL_EXECUTION_FAILED", hop: "tool" });
    expect(answer.output).toContain("stopped while the call ran");
    expect(header.ran).not.toBe(false);
    await at.until(() => at.mounts.views[0]?.state === "running");
    expect((await at.call("good__echo", { text: "back" })).answer.output).toBe("back");
  });

  it("has its tools announced as unavailable meanwhile, and its calls refused with a hint", async () => {
    const at = await mounted({ good: goodServer() }, { ...QUICK, firstPause: 60_000, longestPause: 60_000 });
    await at.mounts.settled;
    const before = (await at.manifest()).hash;
    await at.call("good__die");
    await at.until(() => at.mounts.views[0]?.state === "failed");
    const { tools, hash } = await at.manifest();
    expect(hash).not.toBe(before);
    expect(tools.find(({ name }) => name === "good__echo")?.unavailable).toContain("exit code 3");
    const { answer, header } = await at.call("good__echo", { text: "a" });
    expect(answer).toMatchObject({ code: "UNAVAILABLE", hint: expect.stringContaining("matrx doctor") });
    expect(header.ran).toBe(false);
  });

  it("at once is tried again and again, ever more seldom, and never announced", async () => {
    const at = await mounted({ odd: oddServer("exit") }, QUICK);
    const tries = () => at.logged.filter((line) => line.includes("exit code 7"));
    await at.until(() => tries().length >= 4);
    expect(tries().map((line) => JSON.parse(line).again_in_ms)).toEqual(
      expect.arrayContaining([20, 40, 80, 100]),
    );
    expect(names(at.mounts)).toEqual([]);
  });

  it("because there is no such program is no end of the agent, and its arguments are not told", async () => {
    const at = await mounted({ odd: { command: "/no-such-program-here", args: ["--token=sesame"] } }, QUICK);
    await at.mounts.settled;
    expect(at.mounts.views).toMatchObject([
      { state: "failed", why: expect.stringMatching(/not found.*ENOENT/) },
    ]);
    expect(at.logged.join("")).not.toContain("sesame");
    expect((await at.call("Read", { file_path: "/a" })).answer.type).toBe("success");
  });
});

describe("a server that does not answer", () => {
  it("at its start is given up", async () => {
    const at = await mounted({ odd: oddServer("silent") }, { ...QUICK, startWithin: 1000 });
    await at.mounts.settled;
    expect(at.mounts.views).toMatchObject([{ state: "failed", why: expect.stringContaining("within 1 s") }]);
  });

  it("to a call holds up no other, and the call ends with its time", async () => {
    const at = await mounted({ odd: oddServer() });
    await at.mounts.settled;
    const hanging = at.call("odd__hang", {}, { timeoutMs: 500 });
    expect((await at.call("odd__noise")).answer.output).toBe("quiet");
    expect((await hanging).answer.code).toBe("TIMEOUT");
  });
});

describe("a server that crashes or floods", () => {
  it("in the middle of a call, or with a giant or deep result, breaks only that call", async () => {
    const at = await mounted({ odd: oddServer() }, QUICK);
    await at.mounts.settled;
    expect((await at.call("odd__huge")).answer.code).toBe("PAYLOAD_TOO_LARGE");
    expect((await at.call("odd__nest")).answer).toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
    expect((await at.call("odd__noise")).answer.output).toBe("quiet");
    expect((await at.call("odd__crash")).answer.code).toBe("TOOL_EXECUTION_FAILED");
  });

  it.each([
    ["flood", "a line without end"],
    ["lines", "no messages"],
  ])("with garbage and no message (%s) is ended", async (how, why) => {
    const at = await mounted({ odd: oddServer(how) }, { ...QUICK, firstPause: 60_000 });
    await at.mounts.settled;
    expect(at.mounts.views).toMatchObject([{ state: "failed", why: expect.stringContaining(why) }]);
    expect(at.logged.length).toBeLessThan(500);
    expect(await processesOfOdd(at.folder)).toEqual([]);
  });

  it("before its first message is understood all the same", async () => {
    const at = await mounted({ odd: oddServer("noise") });
    await at.mounts.settled;
    expect((await at.call("odd__noise")).answer.output).toBe("quiet");
  });

  it("with pages without end, is listed so far", async () => {
    const at = await mounted({ odd: oddServer("endless") });
    await at.mounts.settled;
    expect(names(at.mounts)).toHaveLength(6);
    expect(at.mounts.views[0]?.left_out.join()).toContain("there twice");
  });
});

describe("a server that leaves processes behind", () => {
  it("is ended with all of them when the agent ends, even if it ignores that", async () => {
    const at = await mounted({ odd: oddServer("child") });
    await at.mounts.settled;
    expect((await processesOfOdd(at.folder)).length).toBeGreaterThan(1);
    await at.mounts.close();
    expect(await processesOfOdd(at.folder)).toEqual([]);
  });
});

describe("processes that an earlier run left behind", () => {
  it("are ended before the server is started", async () => {
    const mark = `mount-${crypto.randomUUID().slice(0, 16)}`;
    const child = spawn(process.execPath, ["-e", "process.stdin.resume(); setInterval(() => {}, 1000)"], {
      env: { MATRX_JOB: mark },
      detached: true,
    });
    await once(child, "spawn");
    const ended = once(child, "exit");
    await endLeftovers(mark);
    expect((await ended)[1]).toBe("SIGTERM");
  });
});

describe("names", () => {
  it("cannot be those of other tools, and are short and plain", async () => {
    const at = await mounted({ odd: oddServer("shadow"), other: oddServer("plain") });
    await at.mounts.settled;
    const { tools } = await at.manifest();
    expect(tools.filter(({ name }) => name === "Read")).toHaveLength(1);
    expect((await at.call("Read", { file_path: "/a" })).answer.output).toBe("read /a");
    const mountedNames = names(at.mounts);
    expect(new Set(mountedNames).size).toBe(mountedNames.length);
    for (const name of mountedNames) expect(name).toMatch(/^(odd|other)__[A-Za-z0-9_-]{1,61}$/);
    for (const name of mountedNames) expect(name.length).toBeLessThanOrEqual(64);
    expect(mountedNames).toEqual(expect.arrayContaining(["odd__Read", "odd___Bash", "odd__a_b"]));
    const read = tools.find(({ name }) => name === "odd__Read");
    expect(read?.description.length).toBe(8192);
    expect(read?.title?.length).toBe(128);
    expect(manifestSchema.parse(await at.manifest())).toBeDefined();
  });
});

describe("schemas", () => {
  it("that are giant, deep or of no object leave their tool out; others are kept to", async () => {
    const at = await mounted({ odd: oddServer("schemas") });
    await at.mounts.settled;
    expect(names(at.mounts)).toEqual(["odd__good", "odd__loop", "odd__slowly"]);
    expect(at.mounts.views[0]?.left_out).toEqual([
      expect.stringMatching(/^giant: /),
      expect.stringMatching(/^array: /),
      expect.stringMatching(/^none: /),
      expect.stringMatching(/^deep: /),
      "loop: not followed in its schema: #",
    ]);
    const { tools } = await at.manifest();
    expect(tools.find(({ name }) => name === "odd__good")).not.toHaveProperty("output_schema");
    expect((await at.call("odd__loop", { a: {} })).answer.type).toBe("success");
    expect((await at.call("odd__slowly", { a: `${"a".repeat(50)}!` })).answer.type).toBe("success");
  });

  it("that model APIs refuse are announced as they take them, and calls carry what the server expects", async () => {
    const at = await mounted({ odd: oddServer("foreign") });
    await at.mounts.settled;
    const find = (await at.manifest()).tools.find(({ name }) => name === "odd__find");
    expect(find?.input_schema).toEqual({
      type: "object",
      properties: {
        filter: { type: "string", description: "$filter: OData" },
        a_b: { type: "integer", exclusiveMinimum: 0, description: "a b" },
        xe_2: { type: "array", description: "xé" },
        xe: { type: "object", properties: { deep_er: { type: "boolean", description: "deep-er" } } },
      },
      required: ["filter"],
      additionalProperties: false,
    });
    expect(find?.output_schema).toEqual({
      type: "object",
      properties: { n: { type: "number", exclusiveMinimum: 0 } },
    });
    const own = { $filter: "x", "a b": 1, xé: [1], xe: { "deep-er": true } };
    const named = { filter: "x", a_b: 1, xe_2: [1], xe: { deep_er: true } };
    for (const input of [named, own]) {
      const { answer } = await at.call("odd__find", input);
      expect(JSON.parse(answer.output)).toEqual(own);
    }
    const wordsAlone = (await at.call("odd__find", { filter: "x" })).answer;
    expect(wordsAlone).toMatchObject({ type: "success", output: '{"$filter":"x"}' });
    const wrong = (await at.call("odd__find", { filter: "x", a_b: 0 })).answer;
    expect(wrong).toMatchObject({ code: "INVALID_PARAMETERS", metadata: { field: "a_b" } });
    expect((await at.call("odd__find", { a_b: 1 })).answer.output).toContain("filter");
  });

  it("that refer to themselves or to the outside are open there, and `doctor` is told", async () => {
    const at = await mounted({ odd: oddServer("foreign") });
    await at.mounts.settled;
    const tree = (await at.manifest()).tools.find(({ name }) => name === "odd__tree");
    expect(tree?.input_schema.properties).toEqual({
      root: { type: "object", properties: { under: { type: "array", items: { type: "object" } } } },
      far: {},
    });
    expect(at.mounts.views[0]?.left_out).toEqual([
      "tree: not followed in its schema: #/$defs/node, https://example.com/schema",
    ]);
    expect((await at.call("odd__tree", { root: { under: [{ under: [] }] }, far: 5 })).answer.type).toBe(
      "success",
    );
  });

  it("and tools are as many as a manifest takes", async () => {
    const at = await mounted({ a: oddServer("many"), b: oddServer("fat"), c: oddServer("many") });
    await at.mounts.settled;
    expect(names(at.mounts).filter((name) => name.startsWith("a__"))).toHaveLength(TOOLS_PER_SERVER);
    const frame = JSON.stringify({ type: "manifest", ...(await at.manifest()) });
    expect(Buffer.byteLength(frame)).toBeLessThan(LIMITS.registerFrameBytes);
    expect(manifestSchema.safeParse(await at.manifest()).success).toBe(true);
  });
});
