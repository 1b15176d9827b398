/** A page that failed while it was drawn or loaded: the rest of the app goes on. Nothing of this one has to be loaded. */
import { Text } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Page } from "../ui/Page.tsx";
import classes from "./PageError.module.css";

export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page could not be shown">
      <Text>{wordsOf(error)}</Text>
      <div className={classes.ways}>
        <button type="button" className={classes.again} onClick={reset}>
          Try again
        </button>
        <button type="button" className={classes.again} onClick={() => location.reload()}>
          Load the app anew
        </button>
      </div>
    </Page>
  );
}

/** What browsers say of a file that they could not load helps nobody. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!/module|preload/.test(message)) return message;
  return "A part of the app could not be loaded: the relay can't be reached, or has a newer release.";
}
