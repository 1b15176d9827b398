/** A page before the app itself, or beside it: without its navigation. */
import { Loader } from "@mantine/core";
import { type ReactNode, Suspense } from "react";
import classes from "./Door.module.css";

export function Door({ children }: { children: ReactNode }) {
  return (
    <div className={classes.door}>
      <Suspense fallback={<Loader />}>{children}</Suspense>
    </div>
  );
}
