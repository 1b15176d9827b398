/** A button that is busy while its work runs, and says why when it fails. `ask`: a question that comes first. */
import { Button, type ButtonProps } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { confirmed, type Question } from "./confirm.ts";
import { useKeptFocus } from "./kept-focus.ts";
import { sayProblem } from "./notices.ts";
import { useWork } from "./use-work.ts";

interface Props extends ButtonProps {
  readonly children: ReactNode;
  readonly work: () => Promise<unknown>;
  readonly ask?: Question | undefined;
  readonly "aria-label"?: string;
  readonly type?: "button" | "submit";
}

export function ActionButton({ children, work, ask, ...props }: Props) {
  const { isBusy, run } = useWork(sayProblem);
  const button = useRef<HTMLButtonElement>(null);
  const wasBusy = useRef(false);
  useKeptFocus(button);
  useEffect(() => {
    // A button that was disabled has lost the focus.
    if (wasBusy.current && !isBusy && document.activeElement === document.body)
      button.current?.focus({ preventScroll: true });
    wasBusy.current = isBusy;
  }, [isBusy]);
  const start = async () => {
    if (!ask || (await confirmed(ask))) await run(work);
  };
  return (
    <Button ref={button} type="button" {...props} loading={isBusy} onClick={() => void start()}>
      {children}
    </Button>
  );
}
