/** The tool that waits for a call which did not end in time. */
import type { Tool } from "@modelcontextprotocol/server";
import * as z from "zod";

export const WAIT_CALL = "wait_call";

export const waitCallSchema = z.strictObject({ call: z.uuidv7("must be the name of a call") });

export const WAIT_CALL_TOOL: Tool = {
  name: WAIT_CALL,
  title: "Wait",
  description: "Get the result of a call that ran on, or waited for a person.",
  inputSchema: {
    type: "object",
    properties: { call: { type: "string", description: "As told" } },
    required: ["call"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
