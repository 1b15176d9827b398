/** Text that somebody else wrote: of a long one the beginning, and all of it if somebody wants it. */
import { type ReactNode, useState } from "react";
import classes from "./LongText.module.css";
import { visibleLines } from "./visible-text.ts";

interface Props {
  readonly text: string;
  /** More characters than this are folded. */
  readonly most?: number;
  /** How it is drawn, if not as it is. */
  readonly children?: (text: string) => ReactNode;
}

/** No fold saves less than this, in characters. */
const WORTH_IT = 40;

export function LongText({ text, most = 240, children = (shown) => shown }: Props) {
  const [isOpen, setOpen] = useState(false);
  if (text.length <= most + WORTH_IT) return <bdi>{children(visibleLines(text))}</bdi>;
  const word = text.lastIndexOf(" ", most);
  const beginning = text.slice(0, word > most / 2 ? word : most);
  return (
    <>
      <bdi>{children(visibleLines(isOpen ? text : `${beginning} …`))}</bdi>{" "}
      <button type="button" className={classes.more} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Show less" : "Show all"}
      </button>
    </>
  );
}
