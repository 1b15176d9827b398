/** The answer of a call: its text, its image, and its data for programs. */
import { Text } from "@mantine/core";
import type { CallAnswer } from "../../relay/call-events.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { scrolled } from "../../ui/scrolled.ts";
import classes from "./Outcome.module.css";
import { visibleLines } from "./words.ts";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function Outcome({ answer }: { answer: CallAnswer }) {
  const { type, output = "", image, metadata, hint, code } = answer;
  return (
    <Panel
      title={type === "error" ? "What went wrong" : "Answer"}
      actions={output && <CopyButton text={output} />}
    >
      {output && (
        <pre className={classes.output} {...scrolled("Output")}>
          {visibleLines(output)}
        </pre>
      )}
      {!output && !image && <Text size="sm">It answered nothing.</Text>}
      {hint && <Text size="sm">What to do: {hint}</Text>}
      {code && (
        <Text size="xs" c="dimmed">
          {code}
        </Text>
      )}
      {image && IMAGES.includes(image.media_type) && (
        <img
          className={classes.image}
          src={`data:${image.media_type};base64,${image.base64_data}`}
          alt="What the tool answered"
        />
      )}
      {metadata && Object.keys(metadata).length > 0 && (
        <details className={classes.more}>
          <summary>Details for programs</summary>
          <pre className={classes.output} {...scrolled("Details for programs")}>
            {visibleLines(JSON.stringify(metadata, undefined, 2))}
          </pre>
        </details>
      )}
    </Panel>
  );
}

/** What scrolls is scrolled by keyboard too. */
