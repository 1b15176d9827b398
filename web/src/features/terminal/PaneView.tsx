/** One pane: a terminal, how it stands, and its search. */
import { useEffect, useRef, useState } from "react";
import { mayFocus } from "./focus.ts";
import type { Pane } from "./layout.ts";
import { PaneStatus } from "./PaneStatus.tsx";
import type { Room } from "./room.ts";
import { SearchBar } from "./SearchBar.tsx";
import classes from "./Terminal.module.css";
import type { Terminals } from "./use-terminals.ts";
import type { TerminalView } from "./view.ts";

interface Props {
  readonly pane: Pane;
  readonly room: Room;
  readonly terminals: Terminals;
  /** Its tab is. */
  readonly isShown: boolean;
  readonly isActive: boolean;
  /** It has neighbours. */
  readonly isSplit: boolean;
  readonly isSearched: boolean;
  readonly endSearch: () => void;
  readonly watch: (watches: boolean) => void;
}

export function PaneView({ pane, room, isShown, isActive, isSplit, isSearched, ...props }: Props) {
  const { terminals, endSearch, watch } = props;
  const { id, terminal, watches } = pane;
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<TerminalView>();
  const [wasShown, setWasShown] = useState(isShown);
  if (isShown && !wasShown) setWasShown(true);
  useEffect(() => {
    // A tab that nobody looked at yet takes nothing from the machine.
    if (!wasShown || !place.current) return;
    const found = room.viewOf({ id, terminal, watches });
    setView(found);
    void found.showIn(place.current);
    return () => found.hide();
  }, [room, id, terminal, watches, wasShown]);
  useEffect(() => {
    if (isActive && view && mayFocus()) void view.opened.then(() => mayFocus() && view.focus());
  }, [isActive, view]);
  return (
    <div className={classes.pane} data-split={isSplit} data-active={isActive}>
      {isSearched && view && <SearchBar view={view} close={endSearch} />}
      <div ref={place} className={classes.screen} />
      {view && <PaneStatus pane={pane} view={view} terminals={terminals} watch={watch} />}
    </div>
  );
}
