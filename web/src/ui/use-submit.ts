/** A form that is busy while its work runs, and has the reason when it fails. */
import { type FormEvent, useState } from "react";
import { useWork } from "./use-work.ts";

export function useSubmit(work: () => Promise<unknown>) {
  const [error, setError] = useState<unknown>();
  const { isBusy, run } = useWork(setError);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setError(undefined);
    void run(work);
  };
  return { isBusy, error, submit };
}
