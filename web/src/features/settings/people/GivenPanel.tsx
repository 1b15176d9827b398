/** What this account shares with people: shares that are accepted or wait, and a new one. */
import { Button, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Loaded } from "../../../ui/Loaded.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { Items } from "../Items.tsx";
import { GivenItem } from "./GivenItem.tsx";
import { useShares } from "./queries.ts";
import { isShareTyped, ShareForm } from "./ShareForm.tsx";

export function GivenPanel() {
  const { share } = useSearch({ strict: false });
  const [isSharing, setSharing] = useState(() => share !== undefined || isShareTyped());
  const query = useShares();
  return (
    <Panel
      title="You share"
      about="Machines that people with another account on this relay use as guests."
      actions={
        !isSharing && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setSharing(true)}
          >
            Share a machine
          </Button>
        )
      }
    >
      {isSharing && <ShareForm machine={share} close={() => setSharing(false)} />}
      <Loaded query={query}>
        {({ given }) =>
          given.length === 0 ? (
            <Text size="sm">You share no machine at present.</Text>
          ) : (
            <Items label="You share">
              {given.map((one) => (
                <GivenItem key={one.id} share={one} />
              ))}
            </Items>
          )
        }
      </Loaded>
    </Panel>
  );
}
