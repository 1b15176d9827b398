/** Limits that few need: closed paths, and tools by name. */
import { Textarea } from "@mantine/core";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

export function MoreLimits({ draft: { closed, tools }, change }: FieldProps) {
  const isUsed = closed !== "" || tools !== "";
  return (
    <details className={classes.more} open={isUsed || undefined}>
      <summary>More limits</summary>
      <Lines
        label="Closed paths"
        description="One a line, such as ~/projects/private or **/*.key. Closed also in the folders above."
        value={closed}
        onChange={(text) => change({ closed: text })}
      />
      <Lines
        label="Only these tools"
        description="One a line, such as Read or Terminal*. Empty: every tool that its rights allow."
        value={tools}
        onChange={(text) => change({ tools: text })}
      />
    </details>
  );
}

interface LinesProps {
  readonly label: string;
  readonly description: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function Lines({ onChange, ...props }: LinesProps) {
  return (
    <Textarea
      {...props}
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
      autoCapitalize="none"
      autoComplete="off"
      classNames={{ input: classes.mono ?? "" }}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
