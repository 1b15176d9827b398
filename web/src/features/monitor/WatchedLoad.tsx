/** The load of a machine that is watched, or why it can't be seen now. */
import { Text } from "@mantine/core";
import { Problem } from "../../ui/Problem.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import { LoadView } from "./LoadView.tsx";
import type { Watched } from "./use-watch.ts";
import type { WatchState } from "./watching.ts";

interface Props {
  readonly watched: Watched;
  readonly isOld: boolean;
  /** How far back charts go, in milliseconds. */
  readonly rangeMs: number;
}

export function WatchedLoad({ watched, isOld, rangeMs }: Props) {
  const { samples, state, retry } = watched;
  const last = samples.at(-1);
  return (
    <>
      {state.kind === "failed" && <Problem error={state.error} retry={retry} />}
      {state.kind === "asked" && <WaitsForApproval>Watching the machine</WaitsForApproval>}
      {last ? <LoadView {...{ samples, last, isOld, rangeMs }} /> : <NotYet state={state} />}
    </>
  );
}

function NotYet({ state }: { state: WatchState }) {
  switch (state.kind) {
    case "failed":
    case "asked":
      return null;
    case "silent":
      return <Text size="sm">The machine sends no figures that this page can read.</Text>;
    case "reconnecting":
      if (state.isOffline)
        return <Text size="sm">The machine is offline. It is shown here when it is back.</Text>;
      return <Waiting />;
    default:
      return <Waiting />;
  }
}
