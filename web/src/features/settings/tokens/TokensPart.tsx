/** AI apps and programs that may use this account's machines: what each may do, and tokens for new ones. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useKeptState } from "../../../base/use-kept-state.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { Items } from "../Items.tsx";
import { AiTokenPanel } from "./AiTokenPanel.tsx";
import { ConnectPanel } from "./ConnectPanel.tsx";
import { isSession, isShare, type Token, useTokens } from "./queries.ts";
import { ScriptTokenPanel } from "./ScriptTokenPanel.tsx";
import { TokenItem } from "./TokenItem.tsx";

export function TokensPart() {
  const [making, setMaking] = useKeptState("new token", isMaking);
  const close = () => setMaking(undefined);
  return (
    <Stack gap="md">
      {making === undefined && (
        <Group gap="xs">
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setMaking("ai")}>
            New token for an AI
          </Button>
          <Button variant="default" onClick={() => setMaking("script")}>
            New token for my own script
          </Button>
        </Group>
      )}
      {making === "ai" && <AiTokenPanel close={close} />}
      {making === "script" && <ScriptTokenPanel close={close} />}
      <Panel
        title="Who has access"
        about="Changes and revoking take effect on open connections at once. What you share with people is under People."
      >
        <Loaded query={useTokens()}>{(tokens) => <TokenList tokens={tokens} />}</Loaded>
      </Panel>
      <ConnectPanel />
    </Stack>
  );
}

type Making = "ai" | "script";

function isMaking(kept: unknown): kept is Making {
  return kept === "ai" || kept === "script";
}

function TokenList({ tokens }: { tokens: readonly Token[] }) {
  const shown = tokens.filter((token) => !isSession(token) && !isShare(token));
  if (shown.length === 0) return <Text size="sm">No AI and no program has access yet.</Text>;
  return (
    <Items label="Tokens">
      {shown.map((token) => (
        <TokenItem key={token.id} token={token} />
      ))}
    </Items>
  );
}
