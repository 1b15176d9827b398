/** The call as other callers would make it: with curl, as a frame of a WebSocket, over MCP. */
import { Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { LOCAL_DEVICE, useDirect } from "../../direct/local.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { scrolled } from "../../ui/scrolled.ts";
import { visible } from "../../ui/terminal-text.ts";
import { type Program, programAbout, programsFor, programText } from "./programs.ts";
import classes from "./ToolView.module.css";

interface Props {
  readonly device: string;
  readonly tool: string;
  /** Undefined while something is missing or wrong. */
  readonly input: ToolInput | undefined;
}

/** Characters that are shown; all are copied. */
const SHOWN = 20_000;

export function ForPrograms({ device, tool, input }: Props) {
  const address = useDirect((direct) => direct.address);
  const [program, setProgram] = useState<Program>("curl");
  if (!input)
    return (
      <Text size="sm" c="dimmed">
        Fill in the form first.
      </Text>
    );
  const call = { origin: device === LOCAL_DEVICE ? address : location.origin, device, tool, input };
  const text = programText(program, call);
  return (
    <div>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="As"
          data={[...programsFor(device)]}
          value={program}
          onChange={setProgram}
        />
        <CopyButton text={text} aria-label={`Copy as ${program}`} />
      </Group>
      <pre className={classes.program} {...scrolled(`As ${program}`)}>
        {visible(text.slice(0, SHOWN))}
        {text.length > SHOWN && "…"}
      </pre>
      <Text size="xs" c="dimmed" mt={6}>
        {programAbout(program, call)}
      </Text>
    </div>
  );
}
