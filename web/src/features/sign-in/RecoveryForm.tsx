/** A recovery code, for the day when every passkey is lost. */
import { signInByRecoveryCode } from "../../relay/account.ts";
import { say } from "../../ui/notices.ts";
import { CodeForm } from "./CodeForm.tsx";

export function RecoveryForm({ signedIn }: { signedIn: () => Promise<void> }) {
  const work = async (code: string) => {
    await signInByRecoveryCode(code);
    await signedIn();
    say("That recovery code is used up. Add a passkey under Settings, and remove those that you lost.");
  };
  return (
    <CodeForm
      label="One of your recovery codes"
      placeholder="owner.XXXX-XXXX-XXXX-XXXX"
      submitLabel="Use this code"
      work={work}
    />
  );
}
