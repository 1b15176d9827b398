/** `matrx tools`: what a device can do. */
import { deviceToolsSchema } from "@matrx/shared/api.ts";
import { nearestName, toolNameOf } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import type { Command } from "commander";
import * as z from "zod";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "./credentials.ts";
import { findDevice } from "./find-device.ts";
import { plain, printJson, printTable, styled } from "./print.ts";
import { withProgress } from "./progress.ts";
import { pathOf } from "./relay-client.ts";

interface ToolsOptions extends CallerOptions {
  json?: boolean;
}

export function addTools(program: Command): void {
  program
    .command("tools")
    .description("list what a device can do, or explain one tool")
    .argument("<device>", "id, name, or the beginning of one")
    .argument("[tool]", "explain this one")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON, with the schema of each input")
    .addHelpText("after", "\nExamples:\n  matrx tools laptop\n  matrx tools laptop Bash")
    .action(listTools);
}

async function listTools(wanted: string, name: string | undefined, options: ToolsOptions): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    return client.get(pathOf("v1", "devices", device, "tools"), deviceToolsSchema);
  };
  const list = await withProgress("Asking the relay", ask());
  if (name === undefined) {
    if (options.json) return printJson(list);
    return printTable(["TOOL", "EFFECT", "WHAT IT DOES"], list.tools.map(rowOf));
  }
  const tool = find(list.tools, toolNameOf(name));
  if (options.json) return printJson(tool);
  explain(tool, wanted);
}

function rowOf({ name, effect, description, unavailable }: ToolDescription): string[] {
  if (unavailable !== undefined) return [name, effect, `cannot work now: ${unavailable}`].map(plain);
  const first = /^[^\n]*?(?:\.(?=\s|$)|$)/.exec(description)?.[0] ?? "";
  return [name, effect, first.length > 80 ? `${first.slice(0, 79)}…` : first].map(plain);
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
  if (unavailable) console.log(`It cannot work there now. ${plain(unavailable)}\n`);
  const rows = Object.entries(properties).map(([key, { type, description: what }]) => [
    plain(key),
    typeof type === "string" ? type : "any",
    required.includes(key) ? "required" : "",
    plain(what ?? ""),
  ]);
  if (rows.length > 0) printTable(["PARAMETER", "TYPE", "", ""], rows);
  const example = required.map((key) => ` ${key}=...`).join("");
  console.log(`\nmatrx call ${device} ${plain(name)}${plain(example)}`);
}

function find(tools: readonly ToolDescription[], name: string): ToolDescription {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const near = nearestName(
    name,
    tools.map((candidate) => candidate.name),
  );
  throw new MatrxError({
    code: "TOOL_NOT_FOUND",
    message: `The device has no tool named "${name}"`,
    hint: near ? `Did you mean "${near}"?` : "Run the command without a tool for the list",
    hop: "caller",
  });
}
