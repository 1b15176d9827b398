/** Signs out in this browser. Who has no passkey here is told what it takes to come back. */
import { endSession } from "../../../data/use-account.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { confirmed } from "../../../ui/confirm.ts";
import { knownPasskeys } from "./queries.ts";

const question = (why: string) => ({
  text: `Sign out in this browser? ${why} you need a link or a recovery code to sign in again.`,
  yes: "Sign out",
  no: "Stay signed in",
  isHarmless: true,
});
const STRANDED = question("You have no passkey here, so");
const UNKNOWN = question("Your passkeys could not be read. If you have none here,");

export function SignOutButton() {
  return (
    <ActionButton variant="default" work={leave}>
      Sign out
    </ActionButton>
  );
}

async function leave(): Promise<void> {
  const passkeys = await knownPasskeys().catch(() => undefined);
  const isSafe = passkeys?.some(({ host }) => host === location.hostname);
  if (isSafe || (await confirmed(passkeys ? STRANDED : UNKNOWN))) await endSession();
}
