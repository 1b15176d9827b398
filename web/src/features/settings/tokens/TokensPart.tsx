/** Programs, AIs and other people who may call the machines: what each may do, new ones, and their end. */
import { Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { dateOf } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Item, Items } from "../Items.tsx";
import { Secret } from "../Secret.tsx";
import { AiTokenForm } from "./AiTokenForm.tsx";
import { isSession, refreshTokens, type Token, useTokens } from "./queries.ts";
import { ScriptTokenForm } from "./ScriptTokenForm.tsx";

/** A token that was just made, which is shown once. */
interface Made {
  readonly name: string;
  readonly token: string;
  readonly warning?: string | undefined;
}

export function TokensPart() {
  const query = useTokens();
  const [made, setMade] = useState<Made>();
  const [form, setForm] = useState<"ai" | "script">();
  const take = async (created: Made) => {
    setMade(created);
    setForm(undefined);
    await refreshTokens();
  };
  return (
    <Stack gap="md">
      {made && (
        <Panel title={`The token “${made.name}”`}>
          {made.warning && (
            <Text size="sm" mb="xs">
              {made.warning}
            </Text>
          )}
          <Text size="sm" mb="xs">
            Copy it now: it won't be shown again.
          </Text>
          <Secret label="The new token" text={made.token} />
        </Panel>
      )}
      <Panel
        title="Who has access"
        about="Changes and revoking take effect on open connections at once."
        actions={
          <Group gap="xs">
            <ActionButton work={async () => setForm("ai")}>New token for an AI</ActionButton>
            <ActionButton variant="default" work={async () => setForm("script")}>
              New token for my script
            </ActionButton>
          </Group>
        }
      >
        <Loaded query={query}>
          {(all) => {
            const tokens = all.filter((token) => !isSession(token));
            if (tokens.length === 0) return <Text size="sm">No program has access yet.</Text>;
            return (
              <Items label="Who has access">
                {tokens.map((token) => (
                  <TokenItem key={token.id} token={token} />
                ))}
              </Items>
            );
          }}
        </Loaded>
      </Panel>
      {form === "ai" && <AiTokenForm made={take} cancel={() => setForm(undefined)} />}
      {form === "script" && <ScriptTokenForm made={take} cancel={() => setForm(undefined)} />}
    </Stack>
  );
}

function TokenItem({ token }: { token: Token }) {
  const { id, name, summary, created, expires } = token;
  const revoke = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    say(`${name} was revoked.`);
    await refreshTokens();
  };
  return (
    <Item
      name={name}
      about={summary && sentence(summary)}
      details={[kindOf(token), `since ${dateOf(created)}`, `until ${dateOf(expires)}`]}
      actions={
        <ActionButton
          variant="outline"
          color="red"
          size="sm"
          aria-label={`Revoke ${name}`}
          work={revoke}
          ask={{
            text: `Revoke ${name}? Anyone using it is cut off at once.`,
            yes: "Revoke it",
            no: "Keep it",
          }}
        >
          Revoke
        </ActionButton>
      }
    />
  );
}

const CREDENTIALS: Readonly<Record<string, string>> = { ai: "AI grant", script: "Own script: acts as you" };

/** What a token is, in words. */
function kindOf({ credential, client, shared_with: guest }: Token): string {
  if (client) return client.host ? `AI app of ${client.host}` : "AI app, not verified";
  if (credential === "guest") return guest ? `Shared with ${guest}` : "Share, not accepted yet";
  return CREDENTIALS[credential ?? ""] ?? "Token";
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
