/** A link by which anybody can download a file, for as long as its maker wants. */
import { Button, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../relay/api.ts";
import type { Answer } from "../../relay/routes.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { clockTime } from "../../ui/format.ts";
import { say } from "../../ui/notices.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useSubmit } from "../../ui/use-submit.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { closeDialog, type Placed } from "./dialog.ts";
import { isFolder } from "./entries.ts";
import { joined } from "./paths.ts";

const HOURS = [
  { value: "1", label: "An hour" },
  { value: "24", label: "A day" },
  { value: "168", label: "A week" },
  { value: "720", label: "30 days" },
];

type Link = Answer<"POST /v1/devices/{device}/file-links">;

export function ShareForm({ placed: { device, folder, entry } }: { placed: Placed }) {
  const [hours, setHours] = useState("24");
  const [link, setLink] = useState<Link>();
  const { isBusy, error, submit } = useSubmit(async () => {
    const body = { path: joined(folder, entry.name), hours: Number(hours) };
    setLink(await api("POST /v1/devices/{device}/file-links", { path: { device }, body }));
  });
  if (link) return <MadeLink link={link} />;
  return (
    <form onSubmit={submit}>
      <Text size="sm" mb="md">
        Whoever has the link can download <bdi>{visibleLine(entry.name)}</bdi>
        {isFolder(entry) && " as a zip"}, and nothing else, without signing in.
      </Text>
      <NativeSelect
        data-autofocus
        autoFocus
        label="It works for"
        data={HOURS}
        value={hours}
        onChange={({ currentTarget: { value } }) => setHours(value)}
        mb="md"
      />
      {error !== undefined && <Problem error={error} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={closeDialog}>
          Cancel
        </Button>
        <Button type="submit" loading={isBusy}>
          Make the link
        </Button>
      </Group>
    </form>
  );
}

function MadeLink({ link: { id, url, expires } }: { link: Link }) {
  const revoke = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    say("The link no longer works.");
    closeDialog();
  };
  return (
    <>
      <TextInput
        label="The link, shown only now"
        readOnly
        value={url}
        onFocus={(event) => event.target.select()}
      />
      <Text size="sm" c="dimmed" mt="xs">
        It works until {clockTime(expires)}, and is listed among the tokens in the settings.
      </Text>
      <Group justify="flex-end" mt="md">
        <ActionButton variant="default" work={revoke}>
          Revoke it
        </ActionButton>
        <CopyButton size="sm" variant="filled" text={url}>
          Copy the link
        </CopyButton>
      </Group>
    </>
  );
}
