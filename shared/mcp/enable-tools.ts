/** The tool by which a model gets more tools, and what it got. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { familySchema } from "../family-schemas.ts";
import { check } from "../json-input.ts";
import type { WantedView } from "../model-view.ts";
import { FAMILIES, type Family, familyWords } from "../tool-families.ts";

export const ENABLE_TOOLS = "enable_tools";

const enableToolsSchema = z.strictObject({ family: familySchema });

/** The families of one connection: those that its address names, and those that its model enabled since. */
export class ChosenTools {
  readonly #families: readonly Family[] | undefined;
  readonly #enabled = new Set<Family>();
  readonly #onChange: () => void;

  /** Without `families` the grant's own are shown. */
  constructor(families?: readonly Family[], onChange: () => void = () => undefined) {
    this.#families = families;
    this.#onChange = onChange;
  }

  get view(): WantedView {
    return { families: this.#families, more: [...this.#enabled] };
  }

  /** Answers the call of a model that wants a family; `toolsOf` lists it. Rejects with MatrxError. */
  async enable(
    input: Record<string, unknown>,
    toolsOf: (view: WantedView) => Promise<Tool[]>,
  ): Promise<CallToolResult> {
    const { family } = check(enableToolsSchema, input, "caller");
    const tools = await toolsOf({ families: [family] });
    if (!this.#enabled.has(family)) {
      this.#enabled.add(family);
      this.#onChange();
    }
    const told = `The tools of "${family}" are in your list now; call them by name:`;
    return {
      content: [{ type: "text", text: [told, ...tools.map((tool) => JSON.stringify(tool))].join("\n") }],
    };
  }
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
