/** The frame of a page that is read without the app's navigation. */
import type { ReactNode } from "react";
import { Notices } from "./Notices.tsx";
import classes from "./PlainFrame.module.css";

interface Props {
  /** At the end of the header. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export function PlainFrame({ action, children }: Props) {
  return (
    <>
      <header className={classes.header}>
        <span className={classes.brand}>
          <img src="/icon.svg" alt="" width={28} height={28} />
          Matrx Relay
        </span>
        {action}
      </header>
      <main className={classes.main}>{children}</main>
      <Notices />
    </>
  );
}
