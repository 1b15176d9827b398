/** What the MCP server needs of the surface that it stands on: one device, or several. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { McpDevice } from "./device.ts";
import { toolsOfOne } from "./tools.ts";

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

  constructor(device: McpDevice) {
    this.#device = device;
  }

  async tools(): Promise<Tool[]> {
    const { tools } = await this.#device.openTools();
    return toolsOfOne(tools);
  }

  async target(input: Arguments): Promise<Target> {
    return { device: this.#device, input, naming: {} };
  }

  async answer(): Promise<undefined> {}
}
