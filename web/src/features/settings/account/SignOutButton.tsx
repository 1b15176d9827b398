/** Signs out in this browser. Who has no passkey here is told what it takes to come back. */
import { endSession } from "../../../app/use-account.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { usePasskeys } from "./queries.ts";

export function SignOutButton() {
  const { data } = usePasskeys();
  const isStranded = data !== undefined && !data.some(({ host }) => host === location.hostname);
  return (
    <ActionButton
      variant="default"
      work={endSession}
      ask={
        isStranded
          ? {
              text: "Sign out in this browser? You have no passkey here, so you need a link or a recovery code to sign in again.",
              yes: "Sign out",
              no: "Stay signed in",
              isHarmless: true,
            }
          : undefined
      }
    >
      Sign out
    </ActionButton>
  );
}
