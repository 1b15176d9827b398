/** What stands between two panes: drawn by the pointer, moved by the arrows, and put back by a double click or Enter. */
import { useResizeObserver } from "@mantine/hooks";
import { type CSSProperties, type KeyboardEvent, type PointerEvent, type RefObject, useEffect } from "react";
import classes from "./Separator.module.css";

interface Props {
  readonly label: string;
  /** Whose width it changes. */
  readonly pane: RefObject<HTMLElement | null>;
  /** Where that pane is. */
  readonly side: "left" | "right";
  readonly className: string | undefined;
  /** Undefined: as it was at first. */
  readonly change: (width: number | undefined) => void;
}

/** Of a pane, in pixels. */
const LEAST = 130;
/** What stays for the others, in pixels. */
const REST = 320;
/** With each key, in pixels. */
const STEP = 24;

export function Separator({ label, pane, side, className, change }: Props) {
  const [watch, { width: shown }] = useResizeObserver();
  useEffect(() => watch(pane.current), [watch, pane]);
  const most = () => Math.max(LEAST, (pane.current?.parentElement?.clientWidth ?? 0) - REST);
  const set = (width: number) => change(Math.round(Math.min(Math.max(width, LEAST), most())));
  const drag = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    const box = pane.current?.getBoundingClientRect();
    if (!box || !currentTarget.hasPointerCapture(pointerId)) return;
    set(side === "left" ? clientX - box.left : box.right - clientX);
  };
  const press = (event: KeyboardEvent) => {
    const now = pane.current?.offsetWidth ?? 0;
    const grow = side === "left" ? STEP : -STEP;
    const widths: Readonly<Record<string, number>> = {
      ...{ ArrowRight: now + grow, ArrowLeft: now - grow, Home: LEAST, End: most() },
    };
    const width = widths[event.key];
    if (width !== undefined) set(width);
    else if (event.key === "Enter") change(undefined);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between paragraphs can't be moved.
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={Math.round(shown)}
      aria-valuemin={LEAST}
      aria-valuemax={Math.round(Math.max(most(), shown))}
      tabIndex={0}
      className={`${classes.separator} ${className}`}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => change(undefined)}
      onKeyDown={press}
    />
  );
}

/** Of a pane whose width somebody chose: where there is not enough room, the others give way first. */
export function paneStyle(width: number | undefined): CSSProperties {
  return width === undefined ? {} : ({ "--pane": `0 0.02 ${width}px` } as CSSProperties);
}
