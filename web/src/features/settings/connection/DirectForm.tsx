/** Where the local server is, its token, what is kept of both, and the buttons that connect and disconnect. */
import { Button, Group, Stack, Switch, TextInput } from "@mantine/core";
import type { FormEvent } from "react";
import { useDirect } from "../../../direct/local.ts";
import { useDirectForm } from "./use-direct-form.ts";

interface Props {
  /** It begins to connect, or ends. */
  readonly onChange: () => void;
}

export function DirectForm({ onChange }: Props) {
  const state = useDirect((direct) => direct.state);
  const form = useDirectForm();
  const isIdle = state === "off" || state === "stopped";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.connect()) onChange();
  };
  const disconnect = () => {
    form.disconnect();
    onChange();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label="Address"
          description="As matrx serve prints it"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          disabled={!isIdle}
          value={form.address}
          error={form.addressError}
          onChange={({ currentTarget }) => form.setAddress(currentTarget.value)}
        />
        {isIdle && (
          <TextInput
            type="password"
            label="Token"
            description="What is in the file that matrx serve names when it starts. Leave it empty for a server without one (--no-token)."
            placeholder={form.hasKeptToken ? "Kept in this browser" : ""}
            autoComplete="off"
            value={form.token}
            onChange={({ currentTarget }) => form.setToken(currentTarget.value)}
          />
        )}
        <Switch
          label="Keep the token in this browser"
          description="Otherwise you enter it again after each load. Whoever can use this browser can then use this computer's tools. It is forgotten when you disconnect or sign out."
          checked={form.isTokenKept}
          onChange={({ currentTarget }) => form.keepToken(currentTarget.checked)}
        />
        <Switch
          label="Connect automatically"
          description="When the app is loaded, unless you disconnected. A token must be kept for that."
          checked={form.isAutomatic}
          onChange={({ currentTarget }) => form.setAutomatic(currentTarget.checked)}
        />
        <Group gap="xs">
          {isIdle && <Button type="submit">Connect</Button>}
          {state !== "off" && (
            <Button variant="default" onClick={disconnect}>
              Disconnect
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
