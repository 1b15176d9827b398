/** The clipboard of a machine: its text, when somebody asks for it, and a text that is put there. */
import { Button, Stack, Text, Textarea } from "@mantine/core";
import { IconClipboard, IconClipboardText } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { isText, useKeptState } from "../../base/use-kept-state.ts";
import type { Success } from "../../calls/call-tool.ts";
import { useTool } from "../../calls/use-tool.ts";
import { useLack } from "../../machine/use-lack.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { TextView } from "../../ui/result/TextView.tsx";
import { Status } from "../../ui/Status.tsx";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import classes from "./Screen.module.css";

const READ = { name: "ClipboardRead", effect: "execute" } as const;
const WRITE = { name: "ClipboardWrite", effect: "execute" } as const;

interface Props {
  readonly device: string;
  /** It can be reached now. */
  readonly isThere: boolean;
}

export function ClipboardPanel(props: Props) {
  return (
    <Panel
      title="Clipboard"
      about="What was copied there is often a password, so it is read only when you press. The call's result is kept for 24 hours, and Activity tells only how long the text is. A text that you put there is not shown in Activity."
    >
      <Stack gap="lg">
        <Reading {...props} />
        <Writing {...props} />
      </Stack>
    </Panel>
  );
}

interface Found {
  readonly text: string;
  readonly isCut: boolean;
  /** In milliseconds since 1970. */
  readonly at: number;
}

function textIn({ metadata }: Success): Found {
  const { text, cut } = metadata;
  if (!isText(text)) throw new Error("The machine's answer has no text, and can't be read here.");
  return { text, isCut: cut === true, at: Date.now() };
}

function Reading({ device, isThere }: Props) {
  const { run, isBusy, isAsked, error } = useTool(device, READ, textIn);
  const lack = useLack(device, READ.name);
  const [found, setFound] = useState<Found>();
  const read = async () => {
    const answer = await run({}).catch(() => undefined);
    if (answer) setFound(answer);
  };
  return (
    <Stack gap="xs">
      <div className={classes.bar}>
        <Button
          variant="default"
          leftSection={<IconClipboardText size={16} aria-hidden />}
          loading={isBusy}
          disabled={!isThere || lack !== undefined}
          onClick={() => void read()}
        >
          Read it
        </Button>
      </div>
      {lack !== undefined && <Text size="sm">{lack}</Text>}
      {isAsked && <WaitsForApproval>Reading it</WaitsForApproval>}
      {error !== undefined && <Problem error={error} />}
      {found && (
        <>
          <div role="status">
            <Status tone="ok">
              {found.text === "" ? "No text was there at " : "Read at "}
              {new Date(found.at).toLocaleTimeString()}
            </Status>
          </div>
          {found.isCut && <Text size="sm">It is longer than 1 MiB: this is the beginning.</Text>}
          {found.text !== "" && (
            <TextView
              key={found.at}
              text={found.text}
              fileName={`clipboard-${found.at}.txt`}
              label="Text on the clipboard"
            />
          )}
        </>
      )}
    </Stack>
  );
}

function Writing({ device, isThere }: Props) {
  const { run, isBusy, isAsked, error } = useTool(device, WRITE, () => true);
  const lack = useLack(device, WRITE.name);
  const [typed, setTyped] = useKeptState(`clipboard:${device}`, isText);
  const [putAt, setPutAt] = useState<number>();
  const text = typed ?? "";
  const put = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await run({ text }).catch(() => false))) return;
    setTyped(undefined);
    setPutAt(Date.now());
  };
  return (
    <form onSubmit={(event) => void put(event)}>
      <Stack gap="xs">
        <Textarea
          label="Text to paste at the machine"
          autosize
          minRows={3}
          maxRows={12}
          readOnly={isBusy}
          spellCheck={false}
          value={text}
          onChange={({ currentTarget: { value } }) => setTyped(value === "" ? undefined : value)}
        />
        <div className={classes.bar}>
          <Button
            type="submit"
            variant="default"
            leftSection={<IconClipboard size={16} aria-hidden />}
            loading={isBusy}
            disabled={!isThere || lack !== undefined || text === ""}
          >
            Put it there
          </Button>
        </div>
        {lack !== undefined && <Text size="sm">{lack}</Text>}
        {isAsked && <WaitsForApproval>Putting it there</WaitsForApproval>}
        {error !== undefined && <Problem error={error} />}
        {putAt !== undefined && text === "" && (
          <div role="status">
            <Status tone="ok">Put there at {new Date(putAt).toLocaleTimeString()}</Status>
          </div>
        )}
      </Stack>
    </form>
  );
}
