/** Live output on the page: it follows its end until the person scrolls up, and then stays where it is. */
import { Text } from "@mantine/core";
import { type RefObject, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { AnsiText } from "../ansi/AnsiText.tsx";
import { scrolled } from "../scrolled.ts";
import type { LiveOutput, Piece } from "./live-output.ts";
import classes from "./Output.module.css";

/** This near to its end, in pixels, the output is followed. */
const NEAR = 8;

export function LiveOutputView({ live }: { live: LiveOutput }) {
  const { pieces, leftOut } = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => live.view,
  );
  const box = useRef<HTMLPreElement>(null);
  const onScroll = useFollowing(box, pieces);
  if (pieces.length === 0) return null;
  return (
    <div>
      {leftOut > 0 && (
        <Text size="sm" c="dimmed" mb={4}>
          The first {leftOut.toLocaleString("en")} characters are not shown.
        </Text>
      )}
      <pre ref={box} className={classes.output} {...scrolled("Output so far")} onScroll={onScroll}>
        {pieces.map(({ id, segments }) => (
          <span key={id} data-piece={id}>
            <AnsiText segments={segments} />
          </span>
        ))}
      </pre>
    </div>
  );
}

/** Keeps the end in sight, or what the person reads where it is. Returns what listens to the box's scrolling. */
function useFollowing(box: RefObject<HTMLPreElement | null>, pieces: readonly Piece[]): () => void {
  const isFollowed = useRef(true);
  const anchor = useRef<{ id: number; top: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const pre = box.current;
    if (!pre) return;
    if (isFollowed.current) pre.scrollTop = pre.scrollHeight;
    else if (anchor.current) {
      const moved = pieceIn(pre, anchor.current.id);
      if (moved) pre.scrollTop += moved.offsetTop - anchor.current.top;
    }
    const last = pieces.at(-1);
    const element = last && pieceIn(pre, last.id);
    anchor.current = element ? { id: last.id, top: element.offsetTop } : undefined;
  }, [box, pieces]);
  return () => {
    const pre = box.current;
    if (pre) isFollowed.current = pre.scrollHeight - pre.scrollTop - pre.clientHeight < NEAR;
  };
}

function pieceIn(pre: HTMLElement, id: number): HTMLElement | null {
  return pre.querySelector<HTMLElement>(`[data-piece="${id}"]`);
}
