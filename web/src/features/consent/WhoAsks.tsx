/** Whether anybody vouches for the name by which an app calls itself. */
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
