/** shared/built-in-tools.ts, made from the tools themselves: what the relay, which has none of them, holds about each. */
import type { Tool } from "../../agent/core/tool.ts";

const HEAD = `/**
 * What the agent's tools say of themselves in \`agent/tools/\`, for the relay, which has none of them and takes no device's word
 * for it. Generated: \`UPDATE_DOCS=1 npx vitest run test/docs/tools.test.ts\` updates it.
 */
`;

/** Throws if a tool leaves out what each must say. */
export function builtInTable(tools: readonly Tool[]): string {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, family, effect, model } of sorted) {
    if (!family || !effect) throw new Error(`${name} declares no family or no effect`);
    if (!model?.hidden && !model?.prompt)
      throw new Error(`${name} has no model.prompt, and is not model.hidden`);
  }
  return [
    HEAD,
    record("EFFECT_OF", "", sorted, ({ effect }) => effect),
    record("FAMILY_OF", "", sorted, ({ family }) => family),
    record("PROMPT_OF", "Its line in a system prompt.", sorted, ({ model }) => model?.prompt),
    record(
      "UNLESS",
      "Tools left out for a model that is offered another, which does the same.",
      sorted,
      ({ model }) => model?.unless,
    ),
    record(
      "NEEDS",
      "Tools that are useless to who may not call another.",
      sorted,
      ({ model }) => model?.needs,
    ),
    list(
      "ALWAYS",
      "Tools shown whatever families are chosen.",
      sorted.filter(({ model }) => model?.always),
    ),
    list(
      "CONFINABLE",
      "Tools that stay within the folders of a grant.",
      sorted.filter(({ confinable }) => confinable),
    ),
  ].join("\n");
}

function record(
  name: string,
  comment: string,
  tools: readonly Tool[],
  said: (tool: Tool) => string | undefined,
): string {
  const rows = tools.flatMap((tool) => {
    const value = said(tool);
    return value === undefined ? [] : [`  ${tool.name}: ${JSON.stringify(value)},\n`];
  });
  return `${commented(comment)}export const ${name} = {\n${rows.join("")}} as const;\n`;
}

function list(name: string, comment: string, tools: readonly Tool[]): string {
  const rows = tools.map((tool) => `  ${tool.name}: true,\n`);
  return `${commented(comment)}export const ${name} = {\n${rows.join("")}} as const;\n`;
}

function commented(text: string): string {
  return text === "" ? "" : `/** ${text} */\n`;
}
