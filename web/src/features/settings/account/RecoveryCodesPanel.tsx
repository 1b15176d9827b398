/** Recovery codes: how many are left, and new ones, shown once. */
import { Alert, Text } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { confirmed } from "../../../ui/confirm.ts";
import { dateOf } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { knownRecoveryCodes, refreshRecoveryCodes, useRecoveryCodes } from "./queries.ts";
import { RecoveryCodes } from "./RecoveryCodes.tsx";

/** Fewer than this many: time for new ones. */
const FEW = 3;
const REPLACED = {
  text: "Make new recovery codes? Those that you have now will no longer work.",
  yes: "Make recovery codes",
};

export function RecoveryCodesPanel() {
  const query = useRecoveryCodes();
  const [codes, setCodes] = useState<readonly string[]>();
  const make = async () => {
    const { left } = await knownRecoveryCodes();
    if (left > 0 && !(await confirmed(REPLACED))) return;
    setCodes((await api("POST /v1/recovery-codes", { body: {} })).codes);
    await refreshRecoveryCodes();
  };
  return (
    <Panel
      title="Recovery codes"
      about="For the day when every passkey is lost. Each signs you in once."
      actions={
        <ActionButton size="sm" variant="default" work={make}>
          Make recovery codes
        </ActionButton>
      }
    >
      <Loaded query={query}>{(told) => <Left told={told} />}</Loaded>
      {codes && <RecoveryCodes codes={codes} />}
    </Panel>
  );
}

function Left({ told: { left, created } }: { told: Answer<"GET /v1/recovery-codes"> }) {
  const text = left === 0 || created === null ? "You have none." : `${left} left, made ${dateOf(created)}.`;
  if (left >= FEW) return <Text size="sm">{text}</Text>;
  return (
    <Alert color="yellow" variant="outline">
      {text}
    </Alert>
  );
}
