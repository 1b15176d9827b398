/** A form whose button is busy while its work runs. What was typed stays when it fails, and the reason stands below it. */
import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { useKeptFocus } from "../../ui/kept-focus.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useSubmit } from "../../ui/use-submit.ts";

interface Props {
  readonly children: ReactNode;
  readonly submitLabel: string;
  /** For who only hears the button. */
  readonly submitName?: string;
  readonly work: () => Promise<unknown>;
  readonly cancel?: (() => void) | undefined;
  readonly isDisabled?: boolean;
}

export function Form({ children, submitLabel, submitName, work, cancel, isDisabled = false }: Props) {
  const element = useRef<HTMLFormElement>(null);
  useKeptFocus(element);
  const { isBusy, error, submit } = useSubmit(work);
  return (
    <form ref={element} onSubmit={submit}>
      <Stack gap="md">
        {children}
        {error !== undefined && <Problem error={error} />}
        <Group gap="xs">
          <Button type="submit" loading={isBusy} disabled={isDisabled} aria-label={submitName}>
            {submitLabel}
          </Button>
          {cancel && (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
