/** A form whose button is busy while its work runs. What was typed stays when it fails, and the reason stands below it. */
import { Button, Group, Stack } from "@mantine/core";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { useKeptFocus } from "../../ui/kept-focus.ts";
import { Problem } from "../../ui/Problem.tsx";

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
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  useKeptFocus(element);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={element} onSubmit={(event) => void submit(event)}>
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
