/** A tab's panes, side by side or below one another; the bars between are moved with a pointer or the arrow keys. */
import { Splitter } from "@mantine/core";
import type { Node } from "./layout.ts";
import { PaneView } from "./PaneView.tsx";
import type { Room } from "./room.ts";
import classes from "./Terminal.module.css";
import type { Terminals } from "./use-terminals.ts";

interface Props {
  readonly node: Node;
  readonly room: Room;
  readonly terminals: Terminals;
  /** The pane that is used; undefined: the tab is not shown. */
  readonly active: string | undefined;
  /** The tab has several. */
  readonly isSplit: boolean;
  /** The pane that is searched. */
  readonly searched: string | undefined;
  readonly endSearch: () => void;
  readonly resize: (split: string, share: number) => void;
  readonly watch: (pane: string, watches: boolean) => void;
}

export function PaneTree({ node, ...props }: Props) {
  const { room, terminals, active, isSplit, searched, endSearch, resize, watch } = props;
  if (node.kind === "pane")
    return (
      <PaneView
        key={node.id}
        pane={node}
        room={room}
        terminals={terminals}
        isShown={active !== undefined}
        isActive={active === node.id}
        isSplit={isSplit}
        isSearched={searched === node.id}
        endSearch={endSearch}
        watch={(watches) => watch(node.id, watches)}
      />
    );
  const { id, direction, share, first, second } = node;
  return (
    <Splitter
      orientation={direction}
      className={classes.split}
      lineSize={6}
      sizes={[share, 100 - share]}
      onSizeChange={([size]) => typeof size === "number" && resize(id, size)}
      step={2}
      attributes={{ handle: { "aria-label": "Move the bar between the panes" } }}
    >
      <Splitter.Pane defaultSize={50} min={10} className={classes.part}>
        <PaneTree node={first} {...props} />
      </Splitter.Pane>
      <Splitter.Pane defaultSize={50} min={10} className={classes.part}>
        <PaneTree node={second} {...props} />
      </Splitter.Pane>
    </Splitter>
  );
}
