/** `matrx tools`: lists a device's tools, or explains one. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { deviceToolsSchema } from "@matrx/shared/api.ts";
import { nearestName } from "@matrx/shared/effects.ts";
import { callerError } from "@matrx/shared/errors.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import type { Command } from "commander";
import * as z from "zod";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { builtInTool, toolNamed } from "../client/names.ts";
import { plain, printJson, printTable, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { asTyped } from "../program-name.ts";

interface ToolsOptions extends CallerOptions {
  json?: boolean;
}

export function addTools(program: Command): void {
  program
    .command("tools")
    .description("list a device's tools, or explain one")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[tool]", "explain this tool")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON, with each tool's input schema")
    .addHelpText("after", "\nExamples:\n  matrx tools laptop\n  matrx tools laptop Bash")
    .action((device: string | undefined, tool: string | undefined, options: ToolsOptions) => {
      // A single word that names a built-in tool means that tool on the default device.
      const isTool = tool === undefined && device !== undefined && builtInTool(device) !== undefined;
      return isTool ? listTools(undefined, device, options) : listTools(device, tool, options);
    });
}

async function listTools(
  wanted: string | undefined,
  name: string | undefined,
  options: ToolsOptions,
): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    return client.get(pathOf("v1", "devices", device, "tools"), deviceToolsSchema);
  };
  const list = await withProgress("Contacting the relay", ask());
  if (name === undefined) {
    if (options.json) return printJson(list);
    return printTable(["TOOL", "EFFECT", "WHAT IT DOES"], list.tools.map(rowOf));
  }
  const tool = find(list.tools, toolNamed(name));
  if (options.json) return printJson(tool);
  explain(tool, wanted ?? list.device);
}

function rowOf({ name, effect, description, unavailable }: ToolDescription): string[] {
  if (unavailable !== undefined) return [name, effect, `can't work now: ${unavailable}`];
  const first = /^[^\n]*?(?:\.(?=\s|$)|$)/.exec(description)?.[0] ?? "";
  return [name, effect, first.length > 80 ? `${first.slice(0, 79)}…` : first];
}

const parametersSchema = z.object({
  properties: z
    .record(z.string(), z.looseObject({ type: z.unknown(), description: z.string().optional() }))
    .default({}),
  required: z.array(z.string()).default([]),
});

function explain(tool: ToolDescription, device: string): void {
  const { name, effect, description, details, unavailable, input_schema } = tool;
  const { properties, required } = parametersSchema.parse(input_schema);
  console.log(`${styled("bold", plain(name))} (${effect})\n\n${plain(description)}\n`);
  if (details) console.log(`${plain(details)}\n`);
  if (unavailable) console.log(`It can't work there now. ${plain(unavailable)}\n`);
  const rows = Object.entries(properties).map(([key, { type, description: what }]) => [
    key,
    typeof type === "string" ? type : "any",
    required.includes(key) ? "required" : "",
    what ?? "",
  ]);
  if (rows.length > 0) printTable(["PARAMETER", "TYPE", "", ""], rows);
  const example = required.map((key) => ` ${key}=...`).join("");
  console.log(asTyped(`\nmatrx call ${device} ${plain(name)}${plain(example)}`));
}

function find(tools: readonly ToolDescription[], name: string): ToolDescription {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const near = nearestName(
    name,
    tools.map((candidate) => candidate.name),
  );
  throw callerError("TOOL_NOT_FOUND", `The device has no tool named "${name}"`, {
    hint: near ? `Did you mean "${near}"?` : "matrx tools DEVICE lists them",
  });
}
