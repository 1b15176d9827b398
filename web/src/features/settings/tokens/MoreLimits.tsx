/** What few need: closed paths, tools by name, and which tools a model is shown. */
import { Textarea } from "@mantine/core";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";
import { ShownTools } from "./ShownTools.tsx";

interface Props extends FieldProps {
  /** What an own script calls, it knows. */
  readonly isForModels?: boolean;
}

export function MoreLimits({ draft, change, isForModels = true }: Props) {
  const { closed, tools, shown } = draft;
  const isUsed = closed !== "" || tools !== "" || shown !== "standard";
  return (
    <details className={classes.more} open={isUsed || undefined}>
      <summary>More options</summary>
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
      {isForModels && <ShownTools draft={draft} change={change} />}
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
