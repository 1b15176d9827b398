/** Tools about devices themselves, where there are several. */
import type { Tool } from "@modelcontextprotocol/server";
import type { ModelTool } from "../model-view.ts";
import type { Family } from "../tool-families.ts";
import { ENABLE_TOOLS, enableTools } from "./enable-tools.ts";
import { DEVICE, isListed, mcpTool } from "./tools.ts";
import { WAIT_CALL, WAIT_CALL_TOOL } from "./wait-call.ts";

export const LIST_DEVICES = "list_devices";
export const DEVICE_HEALTH = "device_health";

const DEVICE_PARAMETER = { [DEVICE]: { type: "string" } };
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

const DEVICE_TOOLS: readonly Tool[] = [
  {
    name: LIST_DEVICES,
    title: "List devices",
    description: "List the machines: `device` of other tools is the id or name of one.",
    inputSchema: { type: "object", properties: {} },
    outputSchema: { type: "object", properties: { devices: { type: "array" } }, required: ["devices"] },
    annotations: READ_ONLY,
  },
  {
    name: DEVICE_HEALTH,
    title: "Device health",
    description: "Whether a machine is connected, when a tool last worked there, and its open alerts.",
    inputSchema: { type: "object", properties: DEVICE_PARAMETER, required: [DEVICE] },
    outputSchema: { type: "object" },
    annotations: READ_ONLY,
  },
];

const OURS = [WAIT_CALL, ENABLE_TOOLS, LIST_DEVICES, DEVICE_HEALTH];

/** The tools of several devices: each once, as the first device describes it, with the device as a parameter. */
export function toolsOfAll(
  devices: readonly (readonly ModelTool[])[],
  others: readonly Family[] = [],
): Tool[] {
  const more = enableTools(others);
  return [...DEVICE_TOOLS, ...sharedTools(devices), ...(more ? [more] : []), waitForDevice()];
}

/** What the devices have. */
export function sharedTools(devices: readonly (readonly ModelTool[])[]): Tool[] {
  const tools = new Map<string, ModelTool>();
  for (const tool of devices.flat())
    if (isListed(tool, OURS) && !tools.has(tool.model_name)) tools.set(tool.model_name, tool);
  return [...tools.values()].map((tool) => mcpTool(tool, DEVICE_PARAMETER));
}

function waitForDevice(): Tool {
  const { inputSchema, ...tool } = WAIT_CALL_TOOL;
  const { properties, required = [] } = inputSchema;
  const withDevice = { ...DEVICE_PARAMETER, ...properties };
  return {
    ...tool,
    inputSchema: { type: "object", properties: withDevice, required: [DEVICE, ...required] },
  };
}
