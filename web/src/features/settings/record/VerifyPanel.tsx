/** Whether the record is as it was written. */
import { Alert, Code, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useState } from "react";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { type Verified, verifyRecord } from "./verify.ts";

export function VerifyPanel() {
  const [progress, setProgress] = useState<string>();
  const [verified, setVerified] = useState<Verified>();
  const verify = async () => {
    setVerified(undefined);
    setProgress("Verifying …");
    try {
      setVerified(await verifyRecord((entries) => setProgress(`Verifying … ${entries} entries so far`)));
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <Panel
      title="In order?"
      about={
        <>
          Entries are kept for 400 days. Each is chained to the one before, so that a change shows. Your
          machines keep the ends of the chain, too: <Code>matrx audit verify</Code> on one of them compares
          with those.
        </>
      }
      actions={
        <ActionButton size="sm" variant="default" work={verify}>
          Verify the record
        </ActionButton>
      }
    >
      <div role="status">
        {progress && <Text size="sm">{progress}</Text>}
        {verified && (
          <Alert
            color={verified.isSound ? "green" : "red"}
            variant="outline"
            icon={verified.isSound ? <IconCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
          >
            {verified.text}
          </Alert>
        )}
      </div>
    </Panel>
  );
}
