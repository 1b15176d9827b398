/** What a tab is called: as the person or the program in it says, and how it stands. */

import { shortLine } from "../../ui/visible-text.ts";
import { activeOf, panesOf, type Tab } from "./layout.ts";
import type { Room } from "./room.ts";
import classes from "./Terminal.module.css";
import { useViewState } from "./use-view-state.ts";

interface Props {
  readonly room: Room;
  readonly tab: Tab;
}

export function TabLabel({ room, tab }: Props) {
  const pane = activeOf(tab);
  const count = panesOf(tab.root).length;
  const view = room.useViews(({ views }) => views.get(pane?.id ?? "")?.view);
  const state = useViewState(view);
  const kind = state?.attachment.kind ?? "connecting";
  return (
    <>
      <span className={classes.dot} data-kind={kind} aria-hidden />
      <bdi className={classes.tabName}>{shortLine(tab.title ?? pane?.name ?? "")}</bdi>
      {count > 1 && <span className={classes.count}>{count}</span>}
      {kind !== "live" && <span className={classes.unseen}>, {WORDS[kind]}</span>}
    </>
  );
}

const WORDS = {
  connecting: "connecting",
  asked: "waits for approval",
  live: "",
  reconnecting: "not connected",
  ended: "ended",
  failed: "failed",
} as const;
