/** A long answer, which only the machine keeps: it is fetched when somebody wants it. */
import { Text } from "@mantine/core";
import { useState } from "react";
import type { CallAnswer } from "../../relay/call-events.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Outcome } from "./Outcome.tsx";
import { outcomeAtMachine } from "./use-call-record.ts";

interface Props {
  readonly device: string;
  readonly call: string;
  readonly tool: string;
}

export function KeptElsewhere({ device, call, tool }: Props) {
  const [answer, setAnswer] = useState<CallAnswer>();
  if (answer) return <Outcome tool={tool} answer={answer} />;
  const fetch = async () => {
    const found = await outcomeAtMachine(device, call);
    if (!found) throw new Error("The connection broke before the answer was here. Try again.");
    setAnswer(found);
  };
  return (
    <Panel title="Answer">
      <Text size="sm" mb="sm">
        The answer is long: only the machine keeps it.
      </Text>
      <ActionButton work={fetch}>Get it from the machine</ActionButton>
    </Panel>
  );
}
