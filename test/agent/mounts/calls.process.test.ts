/** Tools of a mounted server, called as tools of the device. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RESULT_BYTES } from "../../../agent/mounts/result.ts";
import { redAndBlue } from "../../helpers/pictures.ts";
import { readPng } from "../../helpers/png.ts";
import { READER } from "../core/small-tools.ts";
import { goodServer, mounted, names, oddServer } from "./mounted.ts";

async function good(more: object = {}) {
  const at = await mounted({ good: goodServer(more) });
  await at.mounts.settled;
  expect(at.mounts.views).toMatchObject([{ name: "good", state: "running" }]);
  return at;
}

describe("a mounted server", () => {
  it("announces its tools with titles, schemas and the strictest effect", async () => {
    const { manifest } = await good();
    const { tools } = await manifest();
    expect(tools.find(({ name }) => name === "good__echo")).toMatchObject({
      ...{ title: "Say it again", description: "Echoes.", effect: "execute", timeout_ms: 60_000 },
      input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    });
    expect(tools.find(({ name }) => name === "good__data")?.output_schema).toMatchObject({ type: "object" });
    expect(tools.find(({ name }) => name === "good__dotted_name")).toBeDefined();
    expect(JSON.stringify(tools)).not.toContain("x-mcp-header");
  });

  it("answers with text, parts, data, and under changed names", async () => {
    const { call } = await good();
    expect((await call("good__echo", { text: "hello" })).answer).toMatchObject({
      ...{ type: "success", output: "hello" },
    });
    expect((await call("good__echo", { text: "hello" })).answer).not.toHaveProperty("content");
    const { answer } = await call("good__parts");
    expect(answer).toMatchObject({
      output: "see and hear",
      // As its content says, not its server.
      image: { media_type: "image/gif", base64_data: expect.stringMatching(/^R0lGOD/) },
      content: [{ type: "text" }, { type: "image" }, { type: "audio" }, { type: "resource_link" }],
    });
    expect((await call("good__data")).answer).toMatchObject({ output: '{"sum":3}', structured: { sum: 3 } });
    expect((await call("good__dotted_name")).answer.output).toBe("dotted.name");
  });

  it("shows its pictures as models take them, and keeps the originals until it ends", async () => {
    const { call, mounts } = await good();
    const wide = redAndBlue(8100, 24);
    const { answer } = await call("good__parts", { picture: wide.toString("base64") });
    expect(readPng(Buffer.from(answer.image?.base64_data ?? "", "base64"))).toMatchObject({
      width: 1568,
      height: 5,
    });
    expect(answer.content?.map(({ type }) => type)).toEqual([
      "text",
      "image",
      "text",
      "audio",
      "resource_link",
    ]);
    const [, kept = ""] =
      /\[Shown as 1568x5; the original \(image\/png, 8100x24\) is kept as (.+)\]/.exec(answer.output) ?? [];
    expect(readFileSync(kept)).toEqual(wide);
    await mounts.close();
    expect(existsSync(kept)).toBe(false);
  });

  it("says of a picture that no model takes why it is left out, and keeps it", async () => {
    const { call } = await good();
    const cut = redAndBlue(30, 20).subarray(0, 80);
    const damaged = (await call("good__parts", { picture: cut.toString("base64") })).answer;
    expect(damaged.content?.map(({ type }) => type)).toEqual(["text", "text", "audio", "resource_link"]);
    expect(damaged).not.toHaveProperty("image.media_type");
    expect(damaged.output).toMatch(
      /\[A picture is left out, and kept as .+\.png: it is damaged or incomplete/,
    );
    const drawing = {
      picture: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'/>").toString(
        "base64",
      ),
      type: "image/svg+xml",
    };
    expect((await call("good__parts", drawing)).answer.output).toMatch(/kept as .+\.svg: svg can't be shown/);
  });

  it("says how far it is", async () => {
    const { call } = await good();
    const { progress, answer } = await call("good__steps");
    expect(answer.output).toBe("done");
    expect(progress.at(-1)).toEqual({ progress: 3, total: 3, message: "step 3" });
  });

  it("is told nothing that does not fit its schema; the error names the field", async () => {
    const { call } = await good();
    const wrong = await call("good__echo", { text: 5 });
    expect(wrong.answer).toMatchObject({ code: "INVALID_PARAMETERS", metadata: { field: "text" } });
    expect(wrong.header.ran).toBe(false);
    expect((await call("good__echo", {})).answer).toMatchObject({ code: "INVALID_PARAMETERS" });
    expect((await call("good__echo", { text: "a", more: 1 })).answer.output).toContain("more");
  });

  it("that fails says why, as the tool's error", async () => {
    const { call } = await good();
    expect((await call("good__fail")).answer).toMatchObject({
      ...{ type: "error", code: "TOOL_EXECUTION_FAILED", hop: "tool", output: "the disk is full" },
    });
  });

  it("is told when its call is cancelled, or its time is over", async () => {
    const { call, dispatcher, until, logged } = await good();
    const begun = () => logged.filter((line) => line.includes("slow began")).length;
    const cancelled = () => logged.filter((line) => line.includes("slow was cancelled")).length;
    const running = call("good__slow", {}, { call: "slow-1" });
    await until(() => begun() === 1);
    dispatcher.cancel("slow-1");
    expect((await running).answer.code).toBe("CANCELLED");
    await until(() => cancelled() === 1);
    expect((await call("good__slow", {}, { timeoutMs: 300 })).answer.code).toBe("TIMEOUT");
    await until(() => cancelled() === 2);
    expect((await call("good__echo", { text: "alive" })).answer.output).toBe("alive");
  });

  it("that says its tools changed has the new ones, where its owner allows changes", async () => {
    const { call, mounts, until } = await good({ changes: "allow" });
    let told = 0;
    mounts.onChange(() => told++);
    await call("good__grow");
    await until(() => names(mounts).includes("good__extra"));
    expect((await call("good__extra")).answer.output).toBe("extra");
    await until(() => told > 0);
  });

  it("has its own environment, without what is the agent's", async () => {
    process.env.RELAY_KEYS = "a secret of the relay";
    try {
      const { call, folder, logged } = await good({ env: { API_KEY: "sesame", PATH: "/bin" } });
      const environment = JSON.parse((await call("good__environment")).answer.output);
      expect(environment).toMatchObject({ API_KEY: "sesame", PATH: "/bin", CWD: folder });
      expect(environment).not.toHaveProperty("RELAY_KEYS");
      expect(logged.join("")).not.toContain("sesame");
    } finally {
      delete process.env.RELAY_KEYS;
    }
  });

  it("gets large results through, and not those that are too large", async () => {
    const { call } = await good();
    const large = await call("good__big", { bytes: 9 * 1024 * 1024 });
    expect(large.answer.output.length).toBe(9 * 1024 * 1024);
    const over = await call("good__big", { bytes: RESULT_BYTES + 1 });
    expect(over.answer).toMatchObject({ code: "PAYLOAD_TOO_LARGE", hop: "tool" });
    const huge = await call("good__big", { bytes: 20 * 1024 * 1024 });
    expect(huge.answer).toMatchObject({ code: "PAYLOAD_TOO_LARGE", hop: "tool" });
    expect((await call("good__echo", { text: "alive" })).answer.output).toBe("alive");
  });

  it("may print what is no message", async () => {
    const { call } = await good();
    expect((await call("good__garbage")).answer.output).toBe("still here");
  });
});

describe("a server of before 2026", () => {
  it("is spoken to in its language, and what it asks of us is declined", async () => {
    const { call, mounts } = await mounted({ odd: oddServer() });
    await mounts.settled;
    expect((await call("odd__ask")).answer.output).toBe("asked");
    expect((await call("odd__noise")).answer.output).toBe("quiet");
  });

  it("that ends when it is asked what it does not know is started once more, and asked no more", async () => {
    const { mounts, until, call } = await mounted({ odd: oddServer("touchy") });
    await until(() => mounts.views[0]?.state === "running");
    expect((await call("odd__noise")).answer.output).toBe("quiet");
  });
});

describe("grants and policies", () => {
  it("let in only who may execute, and decide by the tool's name", async () => {
    const at = await mounted({ good: goodServer() }, undefined, {
      policy: { denied_tools: ["good__die"] },
    });
    await at.mounts.settled;
    expect((await at.call("good__echo", { text: "a" }, { grant: READER })).answer.code).toBe(
      "PERMISSION_DENIED",
    );
    expect((await at.call("good__die")).answer.code).toBe("PERMISSION_DENIED");
    expect((await at.call("good__echo", { text: "a" })).answer.type).toBe("success");
  });

  it("that are limited to folders cannot get around that by a mounted server", async () => {
    const at = await mounted({ good: goodServer() });
    await at.mounts.settled;
    const effects = ["read", "write", "execute"] as const;
    for (const limit of [{ paths: ["/home/ann"] }, { denied_paths: ["~/.ssh"] }]) {
      const grant = { ...READER, effects: [...effects], ...limit };
      expect((await at.call("good__echo", { text: "a" }, { grant })).answer.code).toBe("PERMISSION_DENIED");
    }
    const limited = await mounted({ good: goodServer() }, undefined, {
      policy: { allowed_paths: ["/home/ann"] },
    });
    await limited.mounts.settled;
    expect((await limited.call("good__echo", { text: "a" })).answer.code).toBe("PERMISSION_DENIED");
  });
});
