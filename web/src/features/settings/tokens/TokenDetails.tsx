/** All that the relay tells of a token: its limits, its last call, and which machines know its newest version. */

import { Anchor, Loader } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useQuery } from "../../../data/query.ts";
import { Facts } from "../../../ui/Facts.tsx";
import { ago, clockTime } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import { useMachineNames } from "../own-machines.ts";
import { lastCallOf } from "./last-call.ts";
import { type Token, useTokenDetails } from "./queries.ts";

export function TokenDetails({ token }: { token: Token }) {
  const nameOf = useMachineNames();
  return (
    <Loaded query={useTokenDetails(token.id)}>
      {({ holders, client, version }) => (
        <Facts
          facts={[
            ["Last call", <LastCall key="last" token={token.id} nameOf={nameOf} />],
            ["App", client && visibleLine(`${client.name} (${client.id})`)],
            ["Made", clockTime(token.created)],
            ["Ends", clockTime(token.expires)],
            ["Version", version],
            ["Kept by", holders.length === 0 ? "no machine: it was not used yet" : heldBy(holders, nameOf)],
            ["Id", token.id],
            [
              "Record",
              <Anchor
                key="record"
                renderRoot={(props) => (
                  <Link
                    {...props}
                    to="/settings/$part"
                    params={{ part: "record" }}
                    search={{ token: token.id }}
                  />
                )}
              >
                What it did
              </Anchor>,
            ],
          ]}
        />
      )}
    </Loaded>
  );
}

function heldBy(
  holders: readonly { readonly device: string; readonly acknowledged: boolean }[],
  nameOf: (device: string) => string,
): string {
  return holders
    .map(
      ({ device, acknowledged }) =>
        `${nameOf(device)}${acknowledged ? "" : " (an older version, until it can be reached)"}`,
    )
    .join(", ");
}

function LastCall({ token, nameOf }: { token: string; nameOf: (device: string) => string }) {
  const { data, isPending } = useQuery({ queryKey: ["last-call", token], queryFn: () => lastCallOf(token) });
  if (isPending) return <Loader size="xs" />;
  if (!data) return "none in the record";
  const where = data.device === undefined ? "" : ` on ${nameOf(data.device)}`;
  return `${visibleLine(data.tool ?? "a tool")}${where}, ${ago(data.at)}${data.type === "denied" ? ", refused" : ""}`;
}
