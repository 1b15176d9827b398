/** What other people share with this account. */
import { Text } from "@mantine/core";
import { refreshDevices } from "../../../data/devices.ts";
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { dateOf } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import { Item, Items } from "../Items.tsx";
import { sentenceOf } from "../tokens/token-words.ts";
import { type ReceivedShare, refreshShares, useShares } from "./queries.ts";

export function ReceivedPanel() {
  return (
    <Panel title="Shared with you">
      <Loaded query={useShares()}>
        {({ received }) =>
          received.length === 0 ? (
            <Text size="sm">Nobody shares a machine with you at present.</Text>
          ) : (
            <Items label="Shared with you">
              {received.map((share) => (
                <ReceivedItem key={share.id} share={share} />
              ))}
            </Items>
          )
        }
      </Loaded>
    </Panel>
  );
}

function ReceivedItem({ share }: { share: ReceivedShare }) {
  const { id, name, shared_by: by, devices, accepted, expires } = share;
  const leave = async () => {
    await api("DELETE /v1/shares/{grant}", { path: { grant: id } });
    await Promise.all([refreshShares(), refreshDevices()]);
    say(`You left “${name}”.`);
  };
  const names = devices.map((device) => visibleLine(device.name)).join(", ");
  return (
    <Item
      name={`${by} shares “${name}” with you`}
      about={visibleLine(`You: ${sentenceOf(share)}`)}
      details={[names || "no machine at present", `since ${dateOf(accepted)}`, `until ${dateOf(expires)}`]}
      actions={
        <ActionButton
          size="sm"
          variant="default"
          aria-label={`Leave ${name}`}
          work={leave}
          ask={{
            text: `Leave “${name}”? Its machines leave your list, and ${by} would have to share them again.`,
            yes: "Leave",
            no: "Stay",
          }}
        >
          Leave
        </ActionButton>
      }
    />
  );
}
