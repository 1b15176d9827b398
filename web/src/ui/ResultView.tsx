/** What a tool answered: its text, its image, what it wants to say besides; or why it could not. */

import { Button, Group, Stack, Text } from "@mantine/core";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { useState } from "react";
import { CopyButton } from "./CopyButton.tsx";
import { Problem } from "./Problem.tsx";
import classes from "./ResultView.module.css";
import { Status } from "./Status.tsx";
import { scrolled } from "./scrolled.ts";
import { visibleOutput } from "./terminal-text.ts";

/** Characters that are drawn at first: a browser gets slow with more. */
const DRAWN = 100_000;
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function ResultView({ answer }: { answer: Answer }) {
  const { type, output, image, metadata, code, hint, hop } = answer;
  const exit = metadata?.exit_code;
  const [first = "", ...rest] = output.split("\n");
  return (
    <Stack gap="sm">
      {type === "error" && <Problem error={Object.assign(new Error(first), { hint, code, hop })} />}
      {typeof exit === "number" && exit !== 0 && (
        <div>
          <Status tone="bad">Exit code {exit}</Status>
        </div>
      )}
      {image && IMAGES.includes(image.media_type) && (
        <img
          className={classes.image}
          src={`data:${image.media_type};base64,${image.base64_data}`}
          alt="What the tool returned"
        />
      )}
      <Output text={type === "error" ? rest.join("\n") : output} isAlone={!image && type === "success"} />
      {metadata && Object.keys(metadata).length > 0 && (
        <details>
          <summary>Details for programs</summary>
          <pre className={classes.output} {...scrolled("Details for programs")}>
            {JSON.stringify(metadata, undefined, 2)}
          </pre>
        </details>
      )}
    </Stack>
  );
}

function Output({ text, isAlone }: { text: string; isAlone: boolean }) {
  const [isWhole, setWhole] = useState(false);
  if (!text) return isAlone ? <Text size="sm">No output.</Text> : null;
  const isCut = text.length > DRAWN && !isWhole;
  return (
    <>
      <pre className={classes.output} {...scrolled("Output")}>
        {visibleOutput(isCut ? text.slice(0, DRAWN) : text)}
      </pre>
      <Group gap="xs">
        <CopyButton text={text} />
        {isCut && (
          <Button size="xs" variant="default" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString()} characters
          </Button>
        )}
      </Group>
    </>
  );
}
