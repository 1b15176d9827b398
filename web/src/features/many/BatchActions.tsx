/** What can be done with a batch as a whole: stop it, run what failed again, take all results along. */
import { Button } from "@mantine/core";
import { IconDownload, IconPlayerStop } from "@tabler/icons-react";
import type { RefObject } from "react";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { confirmed } from "../../ui/confirm.ts";
import { saveFile } from "../../ui/save-file.ts";
import type { Batch, PartRun } from "./batch.ts";
import { runAgain, stopBatch } from "./batches.ts";
import { againQuestion } from "./question.ts";
import { resultsJson, resultsName } from "./results.ts";
import { endingOf } from "./stand.ts";

interface Props {
  readonly batch: Batch;
  readonly all: readonly PartRun[];
  readonly isOver: boolean;
  /** How it goes, in words: it takes the focus from a button that goes away. */
  readonly said: RefObject<HTMLParagraphElement | null>;
}

export function BatchActions({ batch, all, isOver, said }: Props) {
  const { tool } = batch;
  const failed = all.filter((each) => ["failed", "unsent"].includes(endingOf(each) ?? ""));
  const again = async () => {
    const question = againQuestion(tool, failed);
    if (question && !(await confirmed(question))) return;
    said.current?.focus({ preventScroll: true });
    runAgain(
      batch.id,
      failed.map(({ part }) => part.device),
    );
  };
  const save = () =>
    saveFile(resultsName(batch), new Blob([resultsJson(batch, all)], { type: "application/json" }));
  return (
    <>
      {!isOver && (
        <ActionButton
          color="red"
          variant="outline"
          size="xs"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          work={() => {
            said.current?.focus({ preventScroll: true });
            return stopBatch(batch);
          }}
        >
          Stop all
        </ActionButton>
      )}
      {isOver && failed.length > 0 && (
        <Button size="xs" variant="default" onClick={() => void again()}>
          Run again on {failed.length} that failed
        </Button>
      )}
      {isOver && (
        <>
          <CopyButton text={() => resultsJson(batch, all)}>Copy all as JSON</CopyButton>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={save}
          >
            Save all as JSON
          </Button>
        </>
      )}
    </>
  );
}
