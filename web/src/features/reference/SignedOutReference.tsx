/** The reference for whoever is not signed in. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PlainFrame } from "../../shell/PlainFrame.tsx";
import { ReferencePage } from "./ReferencePage.tsx";

export function SignedOutReference() {
  const signIn = (
    <Button size="sm" variant="default" renderRoot={(props) => <Link to="/fleet" {...props} />}>
      Sign in
    </Button>
  );
  return (
    <PlainFrame action={signIn}>
      <ReferencePage />
    </PlainFrame>
  );
}
