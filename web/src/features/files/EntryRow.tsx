/** One entry: its name, size and time, and the button for all that can be done with it. */
// biome-ignore-all lint/a11y/useSemanticElements: lines of a table can't be drawn one by one, at their places.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active line.
import { IconCheck, IconDots } from "@tabler/icons-react";
import { type MouseEvent, type PointerEvent, useRef } from "react";
import { clockTime, dateOf, size as sizeText } from "../../ui/format.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./EntryGrid.module.css";
import { EntryIcon } from "./EntryIcon.tsx";
import { type Entry, isFolder } from "./entries.ts";

/** One more or less, or all up to there. */
export type Choosing = "one" | "range";

/** A finger that stays for so long asks for the menu, in milliseconds. */
const LONG = 500;

interface Props {
  readonly id: string;
  readonly entry: Entry;
  readonly index: number;
  /** In pixels. */
  readonly start: number;
  readonly size: number;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  /** Absent: it can't be chosen. */
  readonly choose: ((how: Choosing) => void) | undefined;
  /** Some are chosen: a finger then chooses more. */
  readonly isChoosing: boolean;
  readonly open: () => void;
  readonly showMenu: (at?: { x: number; y: number }) => void;
}

export function EntryRow({ id, entry, index, start, size, open, showMenu, choose, ...is }: Props) {
  const press = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wasLong = useRef(false);
  const isFinger = useRef(false);
  const end = () => clearTimeout(press.current);
  const begin = ({ pointerType, clientX: x, clientY: y }: PointerEvent) => {
    wasLong.current = false;
    isFinger.current = pointerType === "touch";
    if (!isFinger.current) return;
    press.current = setTimeout(() => {
      wasLong.current = true;
      showMenu({ x, y });
    }, LONG);
  };
  const click = ({ shiftKey, ctrlKey, metaKey, detail }: MouseEvent) => {
    if (wasLong.current) return;
    if (choose && shiftKey) choose("range");
    else if (choose && (ctrlKey || metaKey || (is.isChoosing && isFinger.current))) choose("one");
    // The second click of a double one may meet an entry of the folder that the first one opened.
    else if (detail < 2) open();
  };
  const name = visibleLine(entry.name);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys.
    <div
      role="row"
      id={id}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={is.isChosen}
      data-active={is.isActive}
      className={classes.line}
      style={{ height: size, transform: `translateY(${start}px)` }}
      onPointerDown={begin}
      onPointerMove={end}
      onPointerUp={end}
      onPointerCancel={end}
      onPointerLeave={end}
      // Text that is selected is not what somebody wants here.
      onMouseDown={(event) => (event.shiftKey || event.detail > 1) && event.preventDefault()}
      onClick={click}
    >
      <div role="gridcell" className={classes.name} title={name}>
        <EntryIcon entry={entry} />
        {choose && (
          <button
            type="button"
            role="checkbox"
            aria-checked={is.isChosen}
            tabIndex={-1}
            className={classes.choose}
            aria-label={`Choose ${name}`}
            onClick={(event) => {
              event.stopPropagation();
              choose(event.shiftKey ? "range" : "one");
            }}
          >
            <span>{is.isChosen && <IconCheck size={14} aria-hidden />}</span>
          </button>
        )}
        <bdi className={classes.nameText}>{name}</bdi>
        <span className={classes.note}>{noteOf(entry)}</span>
      </div>
      <div role="gridcell" className={classes.size}>
        {entry.size !== undefined && !isFolder(entry) && sizeText(entry.size)}
      </div>
      <div role="gridcell" className={classes.changed} title={entry.mtime && clockTime(entry.mtime)}>
        {entry.mtime && dateOf(entry.mtime)}
      </div>
      <div role="gridcell" className={classes.more}>
        <button
          type="button"
          tabIndex={-1}
          className={classes.dots}
          aria-label={`Actions for ${name}`}
          onClick={(event) => {
            event.stopPropagation();
            const { left, bottom } = event.currentTarget.getBoundingClientRect();
            showMenu({ x: left, y: bottom });
          }}
        >
          <IconDots size={18} aria-hidden />
        </button>
      </div>
    </div>
  );
}

function noteOf(entry: Entry): string {
  const { type, target, target_type: found, error, name_base64: odd } = entry;
  if (odd !== undefined) return "name is no UTF-8";
  if (error !== undefined) return error === "EACCES" ? "no permission" : error;
  if (type !== "symlink") return type === "file" || type === "directory" ? "" : type;
  return `→ ${visibleLine(target ?? "")}${found === undefined ? ` (${lackOf(entry)})` : ""}`;
}

/** Why nothing is known of what a link leads to. */
function lackOf({ target_error: code }: Entry): string {
  if (code === "ELOOP") return "links in a loop";
  return code === "EACCES" ? "no permission" : "not there";
}
