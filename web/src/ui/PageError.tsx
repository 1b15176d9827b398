/** A page that failed while it was drawn or loaded: the rest of the app goes on. Nothing of this one has to be loaded. */
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Page } from "./Page.tsx";
import classes from "./PageError.module.css";
import { shortLine } from "./visible-text.ts";

export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page could not be shown">
      <div>
        {wordsOf(error)} Nothing was changed by that. Try again, or reload the page; if that does not help,
        update the relay.
      </div>
      <div className={classes.detail}>
        What went wrong, for a report:{" "}
        <bdi>{shortLine(error instanceof Error ? error.message : String(error))}</bdi>
      </div>
      <div className={classes.ways}>
        <button type="button" className={classes.again} onClick={reset}>
          Try again
        </button>
        <button type="button" className={classes.again} onClick={() => location.reload()}>
          Reload the page
        </button>
        <Link to="/fleet">Your machines</Link>
      </div>
    </Page>
  );
}

/** What browsers say of a file that they could not load helps nobody. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!/dynamically imported module|module script failed|unable to preload/i.test(message))
    return "The relay or the machine sent something that this page does not understand, or the page has a mistake.";
  return "A part of the app could not be loaded: the relay can't be reached at the moment, or has a newer release.";
}
