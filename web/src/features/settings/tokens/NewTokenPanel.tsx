/** A token that was just made: shown this once, with lines that use it. */
import { Alert, Button, Tabs, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { Answer } from "../../../relay/routes.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { Secret } from "../Secret.tsx";
import classes from "./NewTokenPanel.module.css";
import { sentenceOf } from "./token-words.ts";
import { usesOf } from "./uses.ts";

export type Created = Answer<"POST /v1/tokens">;

const FILE = "matrx-token";

export function NewTokenPanel({ created, close }: { created: Created; close: () => void }) {
  const { token, name, warning } = created;
  const save = () => saveFile(FILE, new Blob([`${token}\n`], { type: "text/plain" }));
  return (
    <Panel
      title={`${name} has its token`}
      about={sentenceOf(created)}
      actions={
        <Button size="sm" variant="default" onClick={close}>
          Done
        </Button>
      }
    >
      {warning && (
        <Alert color="red" variant="outline" mb="sm">
          {warning}
        </Alert>
      )}
      <Text size="sm" mb="xs">
        Copy it now: it won't be shown again.
      </Text>
      <Secret
        label="New token"
        text={token}
        actions={
          <Button
            variant="default"
            size="sm"
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={save}
          >
            Save as a file
          </Button>
        }
      />
      <Uses created={created} />
    </Panel>
  );
}

function Uses({ created }: { created: Created }) {
  const uses = usesOf(created, location.origin);
  return (
    <Tabs defaultValue={uses[0]?.name ?? null} mt="lg" keepMounted={false}>
      <Tabs.List className={classes.tabs ?? ""}>
        {uses.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {uses.map(({ name, about, lines }) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          <Text size="sm" mb="xs">
            {about}
          </Text>
          <Secret label={name} text={lines} isQuiet />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
