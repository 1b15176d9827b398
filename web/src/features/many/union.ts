/** The tools of several machines as one list: where each is, and whether it takes the same input everywhere. */
import type { Tool } from "../../data/tools.ts";
import { isSchema, type Schema } from "../../ui/schema/schema.ts";

/** Machines on which a tool takes the same input. */
export interface Variant {
  readonly schema: Schema;
  readonly devices: readonly string[];
}

export interface UnionTool extends Pick<Tool, "name" | "title" | "description" | "effect" | "model"> {
  /** By machine. */
  readonly on: ReadonlyMap<string, Tool>;
  /** Most machines have the first one. */
  readonly variants: readonly Variant[];
}

const GRAVITY = ["read", "write", "execute"] as const satisfies readonly Tool["effect"][];
/** Texts for people: other words are no other input. */
const WORDS = ["title", "description", "$comment"];

/** All tools by name. Some are only for programs, and left out. */
export function unionOf(tools: ReadonlyMap<string, readonly Tool[]>): UnionTool[] {
  const byName = new Map<string, Map<string, Tool>>();
  for (const [device, each] of tools) {
    for (const tool of each.filter(({ model }) => !model?.hidden)) {
      const on = byName.get(tool.name) ?? new Map<string, Tool>();
      byName.set(tool.name, on.set(device, tool));
    }
  }
  return [...byName].map(([name, on]) => unionTool(name, on));
}

function unionTool(name: string, on: ReadonlyMap<string, Tool>): UnionTool {
  const variants = variantsOf(on);
  const [first] = variants[0]?.devices ?? [];
  const { title, description = "", model } = on.get(first ?? "") ?? {};
  const effect = gravest([...on.values()].map((tool) => tool.effect));
  return { name, description, effect, on, variants, ...(title && { title }), ...(model && { model }) };
}

/** What a tool may do is told by where it does most. */
export function gravest(effects: readonly Tool["effect"][]): Tool["effect"] {
  return GRAVITY.findLast((effect) => effects.includes(effect)) ?? "execute";
}

function variantsOf(on: ReadonlyMap<string, Tool>): Variant[] {
  const byText = new Map<string, { schema: Schema; devices: string[] }>();
  for (const [device, { input_schema: schema }] of on) {
    const text = canonical(schema);
    const variant = byText.get(text) ?? { schema, devices: [] };
    variant.devices.push(device);
    byText.set(text, variant);
  }
  return [...byText.values()].toSorted((one, other) => other.devices.length - one.devices.length);
}

/** The same text for schemas that take the same input, as far as their order and words are concerned. */
function canonical(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) => {
    if (typeof value === "string" && WORDS.includes(key)) return undefined;
    return isSchema(value) ? Object.fromEntries(Object.entries(value).toSorted(byKey)) : value;
  });
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
