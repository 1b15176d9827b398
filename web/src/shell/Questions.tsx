/** Shows the question that waits for an answer, if there is one. Its dialog is loaded with the first. */
import { lazy, Suspense } from "react";
import { useQuestion } from "../ui/confirm.ts";

const Confirm = lazy(async () => ({ default: (await import("./Confirm.tsx")).Confirm }));

export function Questions() {
  const isAsked = useQuestion(({ asked }) => asked !== undefined);
  return <Suspense>{isAsked && <Confirm />}</Suspense>;
}
