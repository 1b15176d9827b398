/** What the MCP server needs of the surface that it stands on: one device, or several. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { McpDevice } from "./device.ts";
import { type ChosenTools, ENABLE_TOOLS } from "./enable-tools.ts";
import { deviceTools, toolsOfOne } from "./tools.ts";

export type Arguments = Record<string, unknown>;

/** Whose tool a call means, and the arguments that are left for it. */
export interface Target {
  readonly device: McpDevice;
  readonly input: Arguments;
  /** What a later call has to give to mean the same device. */
  readonly naming: Arguments;
}

export interface McpHost {
  /** Rejects with MatrxError. */
  tools(): Promise<Tool[]>;
  /** Rejects with MatrxError, which lists the choices if the arguments name no device. */
  target(input: Arguments): Promise<Target>;
  /** The result of a tool that is no device's; undefined for others. Rejects with MatrxError. */
  answer(tool: string, input: Arguments): Promise<CallToolResult | undefined>;
}

/** One device, whose tools have their own names. */
export class OneDevice implements McpHost {
  readonly #device: McpDevice;
  readonly #chosen: ChosenTools;

  constructor(device: McpDevice, chosen: ChosenTools) {
    this.#device = device;
    this.#chosen = chosen;
  }

  async tools(): Promise<Tool[]> {
    const { tools, others } = await this.#device.openTools(this.#chosen.view);
    return toolsOfOne(tools, others);
  }

  async target(input: Arguments): Promise<Target> {
    return { device: this.#device, input, naming: {} };
  }

  async answer(tool: string, input: Arguments): Promise<CallToolResult | undefined> {
    if (tool !== ENABLE_TOOLS) return undefined;
    return await this.#chosen.enable(input, async (view) => {
      const { tools } = await this.#device.openTools(view);
      return deviceTools(tools);
    });
  }
}
