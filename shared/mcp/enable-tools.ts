/** The tool by which a model gets more tools, and what it got. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { type MatrxError, relayError } from "../errors.ts";
import { familySchema } from "../family-schemas.ts";
import { check } from "../json-input.ts";
import type { WantedView } from "../model-view.ts";
import { FAMILIES, type Family, familyOf, familyWords } from "../tool-families.ts";

export const ENABLE_TOOLS = "enable_tools";

const enableToolsSchema = z.strictObject({ family: familySchema });

/** Where it is kept what a model has enabled. */
export interface EnabledStore {
  families(): readonly Family[];
  add(family: Family): void;
}

export interface ChosenToolsOptions {
  /** What the address names; if absent, the grant's own are shown. */
  readonly families?: readonly Family[] | undefined;
  readonly enabled: EnabledStore;
  readonly onChange: () => void;
}

/** The families of one connection: those that its address names, and those that its model enabled since. */
export class ChosenTools {
  readonly #options: ChosenToolsOptions;

  constructor(options: ChosenToolsOptions) {
    this.#options = options;
  }

  get view(): WantedView {
    const { families, enabled } = this.#options;
    return { families, more: enabled.families() };
  }

  /** Answers the call of a model that wants a family; `toolsOf` lists it. Rejects with MatrxError. */
  async enable(
    input: Record<string, unknown>,
    toolsOf: (view: WantedView) => Promise<Tool[]>,
  ): Promise<CallToolResult> {
    const { family } = check(enableToolsSchema, input, "caller");
    const { families, more = [] } = this.view;
    const all = await toolsOf({ families, more: [...more, family] });
    const tools = all.filter(({ name }) => familyOf(name) === family);
    if (tools.length === 0) throw noToolsError(family);
    if (!more.includes(family)) {
      this.#options.enabled.add(family);
      this.#options.onChange();
    }
    const told = `The tools of "${family}" are in your list now; call them by name:`;
    return {
      content: [{ type: "text", text: [told, ...tools.map((tool) => JSON.stringify(tool))].join("\n") }],
    };
  }
}

/** For as long as a program runs. */
export function enabledInMemory(): EnabledStore {
  const families = new Set<Family>();
  return { families: () => [...families], add: (family) => void families.add(family) };
}

function noToolsError(family: Family): MatrxError {
  return relayError("TOOL_NOT_FOUND", `There are no tools of "${family}" that you could call`, {
    hint: "The description of enable_tools names the families that have some",
    details: { family },
  });
}

/** How it is listed where these families could be enabled; undefined if there are none. */
export function enableTools(others: Iterable<Family>): Tool | undefined {
  const open = new Set(others);
  const families = FAMILIES.filter((family) => open.has(family));
  if (families.length === 0) return undefined;
  const words = families.map((family) => `${family} (${familyWords(family)})`).join(", ");
  return {
    name: ENABLE_TOOLS,
    title: "Enable tools",
    description: `Get more tools: ${words}.`,
    inputSchema: {
      type: "object",
      properties: { family: { type: "string", enum: families } },
      required: ["family"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}
