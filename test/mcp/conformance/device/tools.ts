/** Those of the suite's tools that a device can have: none that asks its client for something, or writes its log. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { defineTool, type Tool } from "../../../../agent/core/tool.ts";
import { toolResultOf } from "../../../../agent/mounts/result.ts";
import { FIXED } from "../fixture/fixed-results.ts";

const NOTHING = z.strictObject({});
const TIMEOUT_MS = 10_000;
/** So long that no step is left out: a client is told of four a second at most. */
const STEP_MS = 300;

export const FIXTURE_TOOLS: readonly Tool[] = [
  ...Object.entries(FIXED).map(([name, result]) =>
    defineTool({
      name,
      description: `Gives what ${name} says`,
      input: NOTHING,
      timeoutMs: TIMEOUT_MS,
      handle: async () => toolResultOf("fixture", result),
    }),
  ),
  defineTool({
    name: "test_tool_with_progress",
    description: "Has three steps",
    input: NOTHING,
    timeoutMs: TIMEOUT_MS,
    handle: async (_, { progress, signal }) => {
      for (const step of [0, 50, 100]) {
        progress({ progress: step, total: 100 });
        await sleep(STEP_MS, undefined, { signal });
      }
      return { output: "Three steps done" };
    },
  }),
];
