/** The chosen tool: what it does, its form, the machines that it would run on, and the button that runs it there. */
import { Alert, Button, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { type FormEvent, useEffect, useMemo, useRef } from "react";
import { flushSync } from "react-dom";
import { confirmed } from "../../ui/confirm.ts";
import { plural } from "../../ui/format.ts";
import { LongText } from "../../ui/LongText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { SchemaForm } from "../../ui/schema/SchemaForm.tsx";
import type { Schema } from "../../ui/schema/schema.ts";
import { useSchemaForm } from "../../ui/schema/use-schema-form.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { WithCode } from "../../ui/WithCode.tsx";
import { draftFor, keepDraft } from "../tools/drafts.ts";
import { focusOnProblem, RUN_KEYS, runByKeys } from "../tools/form-keys.ts";
import { useRuns } from "../tools/runs.ts";
import toolClasses from "../tools/ToolView.module.css";
import { isUnderWay, withRuns } from "./batch.ts";
import { startBatch, useBatches } from "./batches.ts";
import { MachineList } from "./MachineList.tsx";
import { names } from "./names.ts";
import { otherChecks, planOf } from "./plan.ts";
import { runQuestion } from "./question.ts";
import type { UnionTool } from "./union.ts";
import { type Machine, useRights } from "./use-machines.ts";

interface Props {
  readonly tool: UnionTool;
  readonly machines: readonly Machine[];
}

/** In place of a machine's id: what is typed here is for no machine of its own. */
const DRAFTS = "*";
/** Characters of a description that are not folded. */
const SHOWN = 260;
const NO_SCHEMA: Schema = {};

export function ManyTool({ tool, machines }: Props) {
  const { name, description, variants, model } = tool;
  const [main, ...others] = variants;
  const form = useSchemaForm(main?.schema ?? NO_SCHEMA, draftFor(DRAFTS, name));
  const { fields, draft } = form;
  const element = useRef<HTMLFormElement>(null);
  const checks = useMemo(() => otherChecks(tool), [tool]);
  const rights = useRights(
    name,
    machines.flatMap(({ id, view }) => (view ? [id] : [])),
  );
  const runs = useIsUnderWay(name);
  const plan = planOf(tool, machines, { rights, checks, input: form.input });
  const nameOf = (id: string) => visibleLine(machines.find((each) => each.id === id)?.name ?? id);
  useEffect(() => keepDraft(DRAFTS, name, draft, fields), [name, draft, fields]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const input = flushSync(form.finish);
    if (!input) return focusOnProblem(element.current);
    const now = planOf(tool, machines, { rights, checks, input });
    if (now.able.length === 0 || runs) return;
    const question = runQuestion(name, now);
    if (!question || (await confirmed(question))) startBatch(name, input, now.able);
  };
  return (
    <Panel>
      <div className={toolClasses.about}>
        <LongText text={description} most={SHOWN}>
          {(text) => <WithCode text={text} />}
        </LongText>
      </div>
      {others.length > 0 && (
        <Alert color="yellow" variant="outline" mb="md" title={`${name} is not the same on all of them`}>
          The form is the one of {names((main?.devices ?? []).map(nameOf))}.{" "}
          {names(others.flatMap(({ devices }) => devices).map(nameOf))} may expect different input: what you
          fill in is checked for each machine before anything is sent.
        </Alert>
      )}
      <form ref={element} onSubmit={(event) => void submit(event)} onKeyDown={runByKeys} noValidate>
        <SchemaForm form={form} {...(model?.omit && { rare: model.omit })} />
        <MachineList plan={plan} />
        <div className={toolClasses.footer}>
          <Button
            type="submit"
            className={toolClasses.run ?? ""}
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
            disabled={plan.able.length === 0 || runs}
          >
            {runs ? "Running …" : `Run on ${plural(plan.able.length, "machine")}`}
          </Button>
          {draft.size > 0 && (
            <Button variant="subtle" color="gray" onClick={() => form.replace(new Map())}>
              Empty the form
            </Button>
          )}
          {plan.able.length > 0 && !runs && (
            <Text span className={toolClasses.keys}>
              {RUN_KEYS} runs it, too.
            </Text>
          )}
        </div>
      </form>
    </Panel>
  );
}

/** The tool still runs, or waits, on some machines. */
function useIsUnderWay(tool: string): boolean {
  const batches = useBatches((state) => state.batches);
  return useRuns(({ runs }) =>
    batches.some((batch) => batch.tool === tool && withRuns(batch, runs).some(isUnderWay)),
  );
}
