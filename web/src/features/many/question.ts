/** What is asked before a tool that changes something runs on several machines. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { Question } from "../../ui/confirm.ts";
import { plural } from "../../ui/format.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import type { PartRun } from "./batch.ts";
import { names } from "./names.ts";
import type { Plan } from "./plan.ts";
import { endingOf } from "./stand.ts";
import { gravest } from "./union.ts";

const CONSEQUENCES: Readonly<Record<Effect, string | undefined>> = {
  read: undefined,
  write: "It changes files on",
  execute: "It can run, change and delete anything that you can on",
};

/** Undefined: it only reads, and nobody needs to be asked. */
export function runQuestion(tool: string, { machines, able }: Plan): Question | undefined {
  const consequence = CONSEQUENCES[gravest(able.map((each) => each.tool.effect))];
  if (consequence === undefined) return undefined;
  const left = machines.length - able.length;
  const where = plural(able.length, "machine");
  return {
    text: [
      `Run ${visibleLine(tool)} on ${where}?`,
      `${consequence} ${namesOf(able)}.`,
      left > 0 ? `It is not sent to ${plural(left, "machine")} that can't take it now.` : "",
    ]
      .filter(Boolean)
      .join(" "),
    yes: `Run on ${where}`,
  };
}

/** The same before some of its calls are made again. */
export function againQuestion(tool: string, parts: readonly PartRun[]): Question | undefined {
  const consequence = CONSEQUENCES[gravest(parts.map(({ part }) => part.effect))];
  if (consequence === undefined) return undefined;
  const unclear = parts
    .filter((each) => endingOf(each) === "unknown")
    .map(({ part }) => ({ name: part.machine }));
  const where = plural(parts.length, "machine");
  return {
    text: [
      `Run ${visibleLine(tool)} again on ${where}?`,
      `${consequence} ${namesOf(parts.map(({ part }) => ({ name: part.machine })))}.`,
      unclear.length > 0 ? `It may have run on ${namesOf(unclear)} already: then it runs twice.` : "",
    ]
      .filter(Boolean)
      .join(" "),
    yes: `Run again on ${where}`,
  };
}

function namesOf(machines: readonly { readonly name: string }[]): string {
  return names(machines.map(({ name }) => visibleLine(name)));
}
