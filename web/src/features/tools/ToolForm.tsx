/** A tool's form: checked before anything is sent, and kept as it is typed. */
import { Button, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { type FormEvent, useEffect, useId, useRef } from "react";
import { flushSync } from "react-dom";
import type { Tool } from "../../data/tools.ts";
import { useObstacle } from "../../machine/use-obstacle.ts";
import { Fold } from "../../ui/Fold.tsx";
import { SchemaForm } from "../../ui/schema/SchemaForm.tsx";
import { useSchemaForm } from "../../ui/schema/use-schema-form.ts";
import { draftFor, keepDraft } from "./drafts.ts";
import { ForPrograms } from "./ForPrograms.tsx";
import { focusOnProblem, RUN_KEYS, runByKeys } from "./form-keys.ts";
import { startRun } from "./running.ts";
import classes from "./ToolView.module.css";

interface Props {
  readonly device: string;
  readonly tool: Tool;
  readonly isRunning: boolean;
}

export function ToolForm({ device, tool, isRunning }: Props) {
  const { name, input_schema: schema, model } = tool;
  const form = useSchemaForm(schema, draftFor(device, name));
  const { fields, draft } = form;
  const element = useRef<HTMLFormElement>(null);
  const obstacle = useObstacle(device);
  const reasonId = useId();
  useEffect(() => keepDraft(device, name, draft, fields), [device, name, draft, fields]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const input = flushSync(form.finish);
    if (!input) focusOnProblem(element.current);
    else if (obstacle === undefined && !isRunning) startRun(device, tool, input);
  };
  return (
    <form ref={element} onSubmit={submit} onKeyDown={runByKeys} noValidate>
      <SchemaForm form={form} {...(model?.omit && { rare: model.omit })} />
      <div className={classes.footer}>
        <Button
          type="submit"
          className={classes.run ?? ""}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          // Not disabled while it runs: whoever pressed it by keyboard would lose the focus.
          aria-disabled={isRunning || undefined}
          data-disabled={isRunning}
          disabled={!isRunning && obstacle !== undefined}
          aria-describedby={obstacle === undefined ? undefined : reasonId}
        >
          {isRunning ? "Running …" : "Run"}
        </Button>
        {draft.size > 0 && (
          <Button variant="subtle" color="gray" onClick={() => form.replace(new Map())}>
            Empty the form
          </Button>
        )}
        {obstacle === undefined && !isRunning && (
          <span className={classes.keys}>{RUN_KEYS} runs it, too.</span>
        )}
      </div>
      {obstacle !== undefined && (
        <Text size="sm" c="dimmed" mt="xs" id={reasonId} role="status">
          {obstacle}
        </Text>
      )}
      <Fold title="Use it from a program">
        {() => <ForPrograms device={device} tool={name} input={form.input} />}
      </Fold>
    </form>
  );
}
