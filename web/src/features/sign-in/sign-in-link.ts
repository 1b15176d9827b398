/** A link that signs in. */
import { accountOfCode, claim, signedInAccount } from "../../relay/account.ts";
import { confirmed } from "../../ui/confirm.ts";
import { isCodeWaiting } from "./codes.ts";

/**
 * Anybody can send a link that signs in as themselves, and then wait for what is added to their account. So a person is asked
 * who is signed in as another, or was when the app was here last (`before`), or has something waiting for their approval.
 */
export async function signInWith(code: string, before: string | undefined): Promise<void> {
  const now = (await signedInAccount())?.account;
  const then = accountOfCode(code);
  const found = whyToAsk({ now, before, then });
  if (found !== undefined) {
    const isWanted = await confirmed({
      text: `${found} This link signs you in as ${then ?? "somebody else"}. Go on only if you asked for it.`,
      yes: `Sign in as ${then ?? "them"}`,
      no: now === undefined ? "Stay signed out" : `Stay ${now}`,
      isHarmless: true,
    });
    if (!isWanted) return;
  }
  await claim(code);
}

function whyToAsk({ now, before, then }: Partial<Record<"now" | "before" | "then", string | undefined>>) {
  if (now !== undefined) return now === then ? undefined : `You are signed in as ${now}.`;
  if (before !== undefined && before !== then) return `You were signed in as ${before}.`;
  return isCodeWaiting() ? "A machine or a command line waits here for your approval." : undefined;
}
