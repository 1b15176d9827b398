/** Which of the chosen machines a tool would run on now, and why not on the others. */
import type { Tool } from "../../data/tools.ts";
import { isOnline } from "../../ui/device-words.ts";
import { ago } from "../../ui/format.ts";
import { type Check, checkOf } from "../../ui/schema/check.ts";
import type { ToolInput } from "../../ui/schema/draft.ts";
import type { UnionTool } from "./union.ts";
import type { Machine, Rights } from "./use-machines.ts";

export interface Planned {
  readonly id: string;
  readonly name: string;
  /** Its own; undefined: it has none of that name. */
  readonly tool: Tool | undefined;
  /** Why it can't take the call now; undefined: it can. */
  readonly obstacle: string | undefined;
  /** A person is asked before it runs. */
  readonly isAsked: boolean;
}

export interface Plan {
  readonly machines: readonly Planned[];
  readonly able: readonly Target[];
}

export interface Target extends Planned {
  readonly tool: Tool;
}

/** Checks of the machines whose tool takes another input than the form's, by machine. */
export function otherChecks({ variants }: UnionTool): ReadonlyMap<string, Check> {
  return new Map(
    variants.slice(1).flatMap(({ schema, devices }) => {
      const check = checkOf(schema);
      return devices.map((device) => [device, check] as const);
    }),
  );
}

interface Knowledge {
  readonly rights: ReadonlyMap<string, Rights>;
  readonly checks: ReadonlyMap<string, Check>;
  /** Undefined while something is missing or wrong in the form. */
  readonly input: ToolInput | undefined;
}

export function planOf(tool: UnionTool, machines: readonly Machine[], knowledge: Knowledge): Plan {
  const planned = machines.map((machine): Planned => {
    const own = tool.on.get(machine.id);
    const rights = knowledge.rights.get(machine.id);
    return {
      id: machine.id,
      name: machine.name,
      tool: own,
      obstacle:
        obstacleOf(machine) ?? refusal(rights) ?? lack(own, tool.name) ?? misfit(machine.id, knowledge),
      isAsked: rights?.decision === "asked",
    };
  });
  return {
    machines: planned,
    able: planned.flatMap((each) =>
      each.obstacle === undefined && each.tool ? [{ ...each, tool: each.tool }] : [],
    ),
  };
}

function obstacleOf({ view, tools }: Machine): string | undefined {
  if (!view) return "This is not one of your machines: it was removed, or is no longer shared with you.";
  if (view.paused === "everyone") return "Paused. Only somebody at the machine can end that: matrx resume.";
  if (!isOnline(view))
    return view.last_seen === null
      ? "Offline: it was never seen."
      : `Offline: last seen ${ago(view.last_seen)}.`;
  return tools ? undefined : "Its tools could not be read. Load the page again.";
}

/** The list of a machine leaves out what nobody may call there: so this comes before what it lacks. */
function refusal(rights: Rights | undefined): string | undefined {
  if (rights?.decision !== "refused") return undefined;
  return `Not allowed: ${rights.reason ?? "a rule of the machine refuses it."}`;
}

function lack(own: Tool | undefined, name: string): string | undefined {
  if (!own) return `It has no tool “${name}”.`;
  return own.unavailable === undefined ? undefined : `It can't work there now: ${own.unavailable}`;
}

function misfit(id: string, { checks, input }: Knowledge): string | undefined {
  const [problem] = (input && checks.get(id)?.(input)) ?? [];
  if (!problem) return undefined;
  const [field, message] = problem;
  return `Its version of the tool expects different input. ${field ? `${field}: ` : ""}${message}`;
}
