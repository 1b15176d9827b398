/** In which folders, and whether secrets there can be seen. */
import { Checkbox, Radio, Stack, Textarea } from "@mantine/core";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

interface Props extends FieldProps {
  /** Secrets stay closed to other people. */
  readonly canSeeSecrets?: boolean;
}

export function FoldersField({ draft, change, canSeeSecrets = true }: Props) {
  const { allFolders, folders, secrets } = draft;
  return (
    <fieldset className={classes.group}>
      <legend>Folders</legend>
      <Radio.Group
        role="group"
        aria-label="Which folders"
        value={allFolders ? "all" : "some"}
        onChange={(value) => change({ allFolders: value === "all" })}
      >
        <Stack gap="xs">
          <Radio value="some" label="Only in these" />
          {!allFolders && (
            <Textarea
              className={classes.inner}
              aria-label="Folders, one a line"
              description="One full path a line; ~ is the home folder there. What lies in them belongs to them."
              placeholder="~/projects"
              autosize
              minRows={2}
              maxRows={8}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete="off"
              classNames={{ input: classes.mono ?? "" }}
              value={folders}
              onChange={(event) => change({ folders: event.currentTarget.value })}
            />
          )}
          <Radio value="all" label="In every folder" />
        </Stack>
      </Radio.Group>
      {canSeeSecrets && (
        <Checkbox
          label="Secrets are open"
          description="Such as ~/.ssh and .env files. Otherwise they are closed, also in these folders."
          checked={secrets}
          onChange={(event) => change({ secrets: event.currentTarget.checked })}
        />
      )}
    </fieldset>
  );
}
