/** Programs that others wrote, as scripts/test-mcp.ts has installed them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestOptions } from "vitest";
import { STRANGERS } from "../../scripts/tree.ts";
import { needs } from "../helpers/parts.ts";

/** A file of one of the packages in test/strangers. */
export function strangersFile(path: string): string {
  return join(STRANGERS, "node_modules", path);
}

/** Options of tests with these packages. */
export const NEEDS_STRANGERS: TestOptions = needs(
  existsSync(join(STRANGERS, "installed")),
  "the packages of test/strangers are not installed: npm run test:mcp",
);
