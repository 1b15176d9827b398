/** A recovery code, for the day when every passkey is lost. */
import { signInByRecoveryCode } from "../../relay/account.ts";
import { api } from "../../relay/api.ts";
import { say } from "../../ui/notices.ts";
import { CodeForm } from "./CodeForm.tsx";

export function RecoveryForm({ signedIn }: { signedIn: () => Promise<void> }) {
  const work = async (code: string) => {
    await signInByRecoveryCode(code);
    await signedIn();
    const told = await api("GET /v1/recovery-codes").catch(() => undefined);
    const left = told === undefined ? "" : ` ${told.left} left.`;
    say(
      `That recovery code is used up.${left} Add a passkey under Settings, Account, and remove those that you lost.`,
    );
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
