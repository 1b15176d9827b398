/** The tools that this machine's owner may call, as models know them. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type Policy, refusalOf } from "@matrx/shared/policy.ts";
import { modelNames, type NamedTool } from "@matrx/shared/tool-formats.ts";
import { manifestOf } from "../manifest.ts";
import type { Tool } from "../tool.ts";

/** Those that grant and policy allow. */
export function openTools(tools: readonly Tool[], grant: GrantScope, policy: Policy): NamedTool[] {
  const described = manifestOf(tools).tools;
  const names = modelNames(described.map(({ name }) => name));
  return described
    .filter(({ name }) => !refusalOf({ tool: name, grant, policy }, "agent"))
    .map((tool) => ({ ...tool, model_name: names.get(tool.name) ?? tool.name }));
}
