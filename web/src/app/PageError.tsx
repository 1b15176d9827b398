/** A page that failed while it was drawn or loaded: the rest of the app goes on. Nothing of this one has to be loaded. */
import { Text } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Page } from "../ui/Page.tsx";
import classes from "./PageError.module.css";

export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page could not be shown">
      <Text>{error instanceof Error ? error.message : String(error)}</Text>
      <div>
        <button type="button" className={classes.again} onClick={reset}>
          Try again
        </button>
      </div>
    </Page>
  );
}
