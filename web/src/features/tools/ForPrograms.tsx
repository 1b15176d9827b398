/** The call as other callers would make it: with curl, as a frame of a WebSocket, over MCP. */
import { Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { CopyButton } from "../../ui/CopyButton.tsx";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { scrolled } from "../../ui/scrolled.ts";
import { visible } from "../../ui/terminal-text.ts";
import { PROGRAMS, type Program, programAbout, programText } from "./programs.ts";
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
  const [program, setProgram] = useState<Program>("curl");
  if (!input)
    return (
      <Text size="sm" c="dimmed">
        Fill in the form first.
      </Text>
    );
  const call = { origin: location.origin, device, tool, input };
  const text = programText(program, call);
  return (
    <div>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="As"
          data={[...PROGRAMS]}
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
