/** A sign-in link, pasted: on a phone its camera may have opened another browser. */
import { claim } from "../../relay/account.ts";
import { CodeForm } from "./CodeForm.tsx";

export function LinkForm({ signedIn }: { signedIn: () => Promise<void> }) {
  const work = (text: string) => claim(text.trim().replace(/^.*#claim=/, "")).then(signedIn);
  return <CodeForm label="Paste the link here" submitLabel="Sign in" work={work} />;
}
