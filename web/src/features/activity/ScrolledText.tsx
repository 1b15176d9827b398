/** Preformatted text that scrolls within its own height, by keyboard too. */
import type { ReactNode } from "react";
import { scrolled } from "../../ui/scrolled.ts";
import classes from "./ScrolledText.module.css";

interface Props {
  readonly label: string;
  readonly children: ReactNode;
}

export function ScrolledText({ label, children }: Props) {
  return (
    <pre className={classes.block} {...scrolled(label)}>
      {children}
    </pre>
  );
}
