/** What a batch came to, on all machines, as JSON for programs. */
import type { Batch, PartRun } from "./batch.ts";
import { endingOf } from "./stand.ts";

export function resultsJson({ tool, input, began }: Batch, all: readonly PartRun[]): string {
  const results = { tool, input, began: isoTime(began), machines: all.map(resultOf) };
  return JSON.stringify(results, undefined, 2);
}

/** Of the file in which they are saved. */
export function resultsName({ tool, began }: Batch): string {
  const time = new Date(began).toISOString().slice(0, 19).replace(/[T:]/g, "-");
  return `${tool.replace(/[^\w-]+/g, "_")}-${time}.json`;
}

function resultOf(each: PartRun) {
  const { part, run } = each;
  const { call, answer, error, began, ended } = run ?? {};
  return {
    device: part.device,
    machine: part.machine,
    state: endingOf(each) ?? (part.state === "waiting" ? "waiting" : "running"),
    call,
    began: began === undefined ? undefined : isoTime(began),
    ended: ended === undefined ? undefined : isoTime(ended),
    answer,
    error,
  };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
