/** A device's tools as MCP lists them. */
import type { Tool } from "@modelcontextprotocol/server";
import { effectOf, modelNameOf } from "../effects.ts";
import type { ModelTool } from "../model-view.ts";
import type { Family } from "../tool-families.ts";
import { mcpAnnotations } from "../tool-formats.ts";
import { ENABLE_TOOLS, enableTools } from "./enable-tools.ts";
import { WAIT_CALL, WAIT_CALL_TOOL } from "./wait-call.ts";

/** Parameters that we add to a device's tools, and take out of their calls. */
export const SESSION = "session";
export const DEVICE = "device";

const SESSION_SCHEMA = {
  type: "string",
  nullable: true,
  description: "Any name; each has its own working directory. All tools take it",
};

/** How one tool is listed, with `parameters` that its calls must have besides its own. */
export function mcpTool(tool: ModelTool, parameters: Readonly<Record<string, object>> = {}): Tool {
  const { name, model_name, title = titleOf(name), description, output_schema } = tool;
  const { type: _, properties, required = [], ...rest } = tool.input_schema as InputSchema;
  const added = name === "Bash" ? { ...parameters, [SESSION]: SESSION_SCHEMA } : parameters;
  const needed = [...Object.keys(parameters), ...required];
  return {
    name: model_name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: {
      type: "object",
      ...rest,
      properties: {
        ...added,
        ...(isOwn(name) ? withNull(properties, required) : withoutHeaders(properties)),
      },
      ...(needed.length > 0 && { required: needed }),
    },
    ...(output_schema && { outputSchema: { ...output_schema, type: "object" } }),
    ...annotationsOf(name),
  } as Tool;
}

/** Without what is so by default: a list has to be short. */
function annotationsOf(name: string): Pick<Tool, "annotations"> {
  const { readOnlyHint, ...hints } = mcpAnnotations(effectOf(name));
  const annotations = { ...(readOnlyHint && { readOnlyHint }), ...hints };
  return Object.keys(annotations).length > 0 ? { annotations } : {};
}

/** Whether a tool is one of our agent's own. */
function isOwn(name: string): boolean {
  return modelNameOf(name) !== undefined;
}

/** Some clients (SmolAgents) let a model leave out only what may be null. */
function withNull(properties: Record<string, object> = {}, required: readonly string[]) {
  const entries = Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : { ...schema, nullable: true },
  ]);
  return Object.fromEntries(entries);
}

/** The arguments of a call without those that are null in place of absent. */
export function withoutNull(tool: string, input: Record<string, unknown>): Record<string, unknown> {
  if (!isOwn(tool)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

/** Without the keyword by which a client would repeat a value as a header: nobody here compares the two. */
function withoutHeaders(properties: Record<string, object> = {}): Record<string, object> {
  const entries = Object.entries(properties).map(([name, schema]) => {
    if (!("x-mcp-header" in schema)) return [name, schema];
    const { "x-mcp-header": _, ...rest } = schema;
    return [name, rest];
  });
  return Object.fromEntries(entries);
}

/** Whether a tool is listed: our own names come first. */
export function isListed(
  { model_name }: ModelTool,
  ours: readonly string[] = [WAIT_CALL, ENABLE_TOOLS],
): boolean {
  return !ours.includes(model_name);
}

interface InputSchema {
  type?: unknown;
  properties?: Record<string, object>;
  required?: string[];
  [keyword: string]: unknown;
}

/** `ListDirectory` as people read it; undefined for a name that reads well already. */
function titleOf(name: string): string | undefined {
  if (!/[a-z][A-Z]|_/.test(name) || name.includes("__")) return undefined;
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** What one device has. */
export function deviceTools(tools: readonly ModelTool[]): Tool[] {
  return tools.filter((tool) => isListed(tool)).map((tool) => mcpTool(tool));
}

/** All tools where there is one device; `others`: families that could be enabled. */
export function toolsOfOne(tools: readonly ModelTool[], others: readonly Family[] = []): Tool[] {
  const more = enableTools(others);
  return [...deviceTools(tools), ...(more ? [more] : []), WAIT_CALL_TOOL];
}
