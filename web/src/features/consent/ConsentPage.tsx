/**
 * Where an app sends a person's browser (OAuth): they sign in, if they have not, and then decide. It stands apart from the
 * app and its router: nothing but an answer leads on from here.
 */
import "../../ui/mantine-rest.css";
import { Card, Loader } from "@mantine/core";
import { useEffect } from "react";
import { Problem } from "../../ui/Problem.tsx";
import { usePageTitle } from "../../ui/page-title.ts";
import { SignInPage } from "../sign-in/SignInPage.tsx";
import classes from "./Consent.module.css";
import { AnsweredView, LeavingView } from "./LeavingView.tsx";
import { RequestView } from "./RequestView.tsx";
import { useAnswer } from "./use-answer.ts";
import { useRequest } from "./use-request.ts";

/** As the app wrote it: the relay checks it again with the answer. */
const REQUEST = location.search.slice(1);

export function ConsentPage() {
  const { state, read } = useRequest(REQUEST);
  useEffect(() => usePageTitle.setState({ title: "Connect an app" }), []);
  const answering = useAnswer(REQUEST, read);
  if (answering.answered) return <LeavingView answered={answering.answered} />;
  if (state.kind === "answered") return <AnsweredView answered={state.answer} />;
  if (state.kind === "asked")
    return <RequestView asked={state.asked} request={REQUEST} answering={answering} reread={read} />;
  if (state.kind === "signed-out")
    return (
      <SignInPage
        signedIn={read}
        waiting="An app wants to use your machines. You will see which one, and decide, once you have signed in."
      />
    );
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="lg" component="main">
      {state.kind === "failed" ? (
        <Problem error={state.error} retry={() => void read()} />
      ) : (
        <Loader size="sm" />
      )}
    </Card>
  );
}
