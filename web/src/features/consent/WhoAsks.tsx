/** Whether anybody vouches for the name by which an app calls itself. */
import { mixedWarning, mixedWords } from "@matrx/shared/mixed-letters.ts";
import type { ClientRequestView } from "@matrx/shared/oauth-api.ts";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";

export function WhoAsks({ client: { host } }: Pick<ClientRequestView, "client">) {
  if (host !== null)
    return (
      <>
        <bdi>{visibleLine(host)}</bdi> says that this app is its own
      </>
    );
  return (
    <>
      <Status tone="warn">Not verified</Status> Any app can call itself that.
    </>
  );
}

/** What could mislead whoever reads the name. */
export function nameWarnings(name: string): string[] {
  const mixed = [...new Set(mixedWords(name))].map(mixedWarning);
  return /matrx/i.test(name) ? ["It uses the name Matrx, but Matrx vouches for no app.", ...mixed] : mixed;
}
