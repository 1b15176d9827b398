/** What was read from the relay, or that it is on its way, or why it did not come. What came before stays on the screen. */
import type { ReactNode } from "react";
import { Problem } from "./Problem.tsx";
import { Waiting } from "./Waiting.tsx";

interface Props<T> {
  readonly query: {
    readonly data: T | undefined;
    readonly error: unknown;
    refetch(): Promise<unknown>;
  };
  readonly children: (value: T) => ReactNode;
}

export function Loaded<T>({ query, children }: Props<T>) {
  const { data, error, refetch } = query;
  const retry = () => void refetch();
  return (
    <>
      {error && <Problem error={error} retry={retry} />}
      {data === undefined ? !error && <Waiting /> : children(data)}
    </>
  );
}
