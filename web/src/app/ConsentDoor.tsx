/**
 * The page where an app asks to be let in (OAuth). It is none of the router's: what the app asks stands in the address, which
 * the router would write anew, and the relay must get it as the app wrote it.
 */
import { CatchBoundary, type ErrorComponentProps } from "@tanstack/react-router";
import { lazy } from "react";
import { Notices } from "../shell/Notices.tsx";
import { Questions } from "../shell/Questions.tsx";
import { Door } from "./Door.tsx";
import { PageError } from "./PageError.tsx";

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

/** A file that did not come is only asked for again by a new page. */
function Failed({ error }: ErrorComponentProps) {
  return (
    <main>
      <PageError error={error} reset={() => location.reload()} />
    </main>
  );
}
