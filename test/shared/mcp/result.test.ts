/** What a model is given of a call's answer. */
import { expect, it } from "vitest";
import type { Answer } from "../../../shared/caller/to-caller.ts";
import type { Content } from "../../../shared/content.ts";
import type { McpDevice } from "../../../shared/mcp/device.ts";
import { answerResult, errorResult, META, pendingResult } from "../../../shared/mcp/result.ts";

const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75";

const device = {
  device: "laptop-4k7m2x9qpa",
  approvalsUrl: "https://relay.example/",
  recordUrl: (call: string) => `https://relay.example/v1/devices/laptop-4k7m2x9qpa/calls/${call}`,
} as McpDevice;

const input = {};
const naming = {};

const answer = (parts: Partial<Answer>): Answer => ({ type: "success", output: "", call: CALL, ...parts });
const result = (parts: Partial<Answer>, tool = "Bash") =>
  answerResult(answer(parts), { tool, device, input, naming });

it("is the picture, then the output, for clients that look at the first part alone", () => {
  expect(result({ output: "done" }).content).toEqual([{ type: "text", text: "done" }]);
  const image = { media_type: "image/png", base64_data: "AAAA" };
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
  expect(result({ output: "a screen", image }).content).toEqual([
    picture,
    { type: "text", text: "a screen" },
  ]);
  expect(result({ output: "", image }).content).toEqual([picture]);
  expect(result({ output: "", image: null }).content).toEqual([{ type: "text", text: "" }]);
});

it("is every part that a tool gave, and its data", () => {
  const content: Content[] = [
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a", text: "a" } },
  ];
  const given = result({ output: "a", content, structured: { n: 1 } });
  expect(given.content).toEqual(content);
  expect(given.structuredContent).toEqual({ n: 1 });
  expect(given._meta).toEqual({ [META]: { call: CALL, device: undefined } });
});

it("is an error in words, with what to do", () => {
  const failed = answerResult(
    { type: "error", output: "No such file", code: "NOT_FOUND", hint: "Look in src", hop: "tool" },
    { tool: "Read", device, input, naming },
  );
  expect(failed).toEqual({
    content: [{ type: "text", text: "NOT_FOUND: No such file\nHint: Look in src" }],
    isError: true,
  });
  expect(errorResult({ code: "TIMEOUT", message: "Too slow", hop: "agent" }).content).toEqual([
    { type: "text", text: "TIMEOUT: Too slow" },
  ]);
});

it("is a preview and a link if it is too large", () => {
  const output = `${"é".repeat(10 * 1024 * 1024)}`;
  const { content } = result({ output });
  expect(JSON.stringify(content).length).toBeLessThan(20_000);
  expect(content[0]).toMatchObject({
    type: "text",
    text: expect.stringMatching(/\[10469376 more characters\]$/),
  });
  expect(content[1]).toMatchObject({ type: "resource_link", uri: device.recordUrl(CALL) });
  // Nothing is kept of a read.
  expect(result({ output }, "Read").content[1]).toMatchObject({
    text: expect.stringContaining("ask for less"),
  });
});

it("leaves out a picture that no model takes, and keeps the others", () => {
  const content: Content[] = [
    { type: "image", data: "A".repeat(5_000_004), mimeType: "image/png" },
    { type: "image", data: "AAAA", mimeType: "image/png" },
  ];
  const given = result({ content }).content;
  expect(given.map(({ type }) => type)).toEqual(["text", "image", "resource_link"]);
  expect(given[0]).toMatchObject({
    text: expect.stringContaining("5000004 characters of base64, more than models take"),
  });
  // A range or a filter makes no picture smaller.
  const image = { media_type: "image/png", base64_data: "A".repeat(5_000_004) };
  const read = result({ output: "a screen", image }, "Read").content;
  expect(read.map(({ type }) => type)).toEqual(["text", "text", "text"]);
  expect(read[2]).toMatchObject({ text: expect.stringContaining("make a smaller copy") });
});

it("cuts no character in two", () => {
  const { content } = result({ output: `x${"😀".repeat(200_000)}` });
  expect((content[0] as { text: string }).text.isWellFormed()).toBe(true);
});

it("names a call that goes on, so that it is waited for and not repeated", () => {
  const pending = pendingResult(CALL, undefined, { tool: "Bash", device, input, naming });
  expect(pending.isError).toBeUndefined();
  expect(pending.content[0]).toMatchObject({ text: expect.stringContaining(`wait_call {"call":"${CALL}"}`) });
  const [named] = pendingResult(CALL, undefined, {
    tool: "Bash",
    device,
    input,
    naming: { device: "laptop" },
  }).content;
  expect(named).toMatchObject({
    text: expect.stringContaining(`wait_call {"device":"laptop","call":"${CALL}"}`),
  });
  // A tool of others may have an output schema, which this does not fit.
  expect(pendingResult(CALL, undefined, { tool: "server__tool", device, input, naming }).isError).toBe(true);
});

it("says where a person decides", () => {
  const approval = { id: "a", state: "pending", expires: "", summary: "Run: make", edited: false } as const;
  const { content } = pendingResult(CALL, approval, { tool: "Bash", device, input, naming });
  expect(content[0]).toMatchObject({
    text: expect.stringMatching(/^A person must allow this first at https:\/\/relay/),
  });
});
