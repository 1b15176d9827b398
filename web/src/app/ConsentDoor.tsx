/**
 * The page where an app asks to be let in (OAuth). It is none of the router's: what the app asks stands in the address, which
 * the router would write anew, and the relay must get it as the app wrote it.
 */
import { CatchBoundary } from "@tanstack/react-router";
import { lazy } from "react";
import { Notices } from "../shell/Notices.tsx";
import { Questions } from "../shell/Questions.tsx";
import { Page } from "../ui/Page.tsx";
import classes from "../ui/PageError.module.css";
import { Door } from "./Door.tsx";

const Consent = lazy(async () => ({
  default: (await import("../features/consent/ConsentPage.tsx")).ConsentPage,
}));

export function ConsentDoor() {
  return (
    <>
      <Door>
        <CatchBoundary getResetKey={() => "consent"} errorComponent={Failed}>
          <Consent />
        </CatchBoundary>
      </Door>
      <Notices />
      <Questions />
    </>
  );
}

/** A file that did not come is only asked for again by a new page. No part of this one needs the router. */
function Failed() {
  return (
    <main>
      <Page title="This page could not be shown">
        <p>Nothing was allowed. Reload the page, or connect the app again later.</p>
        <div>
          <button type="button" className={classes.again} onClick={() => location.reload()}>
            Reload the page
          </button>
        </div>
      </Page>
    </main>
  );
}
