/** A form made from a tool's schema: what is typed in it, what is wrong with that, and the input that it makes. */
import { useDeferredValue, useMemo, useState } from "react";
import { type Check, checkOf } from "./check.ts";
import { type Draft, type DraftValue, jsonProblem, readDraft, type ToolInput } from "./draft.ts";
import { type Field, fieldsOf } from "./fields.ts";
import type { Schema } from "./schema.ts";

export interface FormState {
  readonly fields: readonly Field[];
  readonly draft: Draft;
  /** Those that are told now, by field; the empty name is for what concerns no field. */
  readonly problems: ReadonlyMap<string, string>;
  /** What would be sent now; undefined: something is missing or wrong. */
  readonly input: ToolInput | undefined;
  set(name: string, value: DraftValue): void;
  /** Puts another draft in its place. */
  replace(draft: Draft): void;
  /** The person has left a field: what is wrong with it is told from now on. */
  left(name: string): void;
  /** The input; undefined: something is wrong, which is told from now on. */
  finish(): ToolInput | undefined;
}

export function useSchemaForm(schema: Schema, first: Draft): FormState {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const check = useMemo(() => checkOf(schema), [schema]);
  const [draft, setDraft] = useState(first);
  const [leftFields, setLeftFields] = useState<ReadonlySet<string>>(new Set());
  const [isTried, setTried] = useState(false);
  const looked = useDeferredValue(draft);
  const { input, problems } = useMemo(() => look(fields, check, looked), [fields, check, looked]);
  const isTold = (name: string) =>
    isTried || (isFilled(looked.get(name)) && (leftFields.has(name) || isBrokenJson(fields, name, looked)));
  return {
    fields,
    draft,
    input: problems.size === 0 ? input : undefined,
    problems: new Map([...problems].filter(([name]) => isTold(name))),
    set: (name, value) => setDraft((before) => new Map(before).set(name, value)),
    replace: (next) => {
      setDraft(next);
      setLeftFields(new Set());
      setTried(false);
    },
    left: (name) => setLeftFields((before) => (before.has(name) ? before : new Set(before).add(name))),
    finish: () => {
      const now = look(fields, check, draft);
      setTried(now.problems.size > 0);
      return now.problems.size > 0 ? undefined : now.input;
    },
  };
}

function look(fields: readonly Field[], check: Check, draft: Draft) {
  const { input, problems } = readDraft(fields, draft);
  // What could not be read is missing in the input, which needs no other word.
  return { input, problems: new Map([...check(input), ...problems]) };
}

function isFilled(value: DraftValue | undefined): boolean {
  return value !== undefined && value !== "";
}

function isBrokenJson(fields: readonly Field[], name: string, draft: Draft): boolean {
  const value = draft.get(name);
  const field = fields.find((each) => each.name === name);
  return field?.input.kind === "json" && typeof value === "string" && jsonProblem(value) !== undefined;
}
