/** How far the uploads to a machine are, and what can be done with them. */
import { Button, Group, Progress } from "@mantine/core";
import { useState } from "react";
import { countdown, plural, size as sizeText } from "../../../ui/format.ts";
import { isGoing, isOpen, type Upload } from "./item.ts";
import { LostUploads } from "./LostUploads.tsx";
import { cancel, clearEnded, pause, resume, useQueue } from "./queue.ts";
import { speedOf } from "./speed.ts";
import { TakenNames } from "./TakenNames.tsx";
import { UploadLine } from "./UploadLine.tsx";
import classes from "./Uploads.module.css";

/** Lines that are drawn; those that need somebody, or run, come first. */
const MOST_LINES = 100;

export function UploadPanel({ device }: { device: string }) {
  const all = useQueue((queue) => queue.uploads);
  const speed = useQueue((queue) => speedOf(queue.samples));
  const [isOpened, setOpened] = useState(false);
  const uploads = all.filter((one) => one.device === device);
  if (uploads.length === 0) return null;
  const going = uploads.filter(isGoing);
  const stopped = uploads.filter(({ state }) => state === "paused" || state === "failed");
  const lost = uploads.filter(({ state }) => state === "lost");
  const asking = uploads.filter(({ state }) => state === "asking");
  const [sent, total] = [sumOf(uploads, "sent"), sumOf(uploads, "size")];
  const ids = (some: readonly Upload[]) => some.map(({ id }) => id);
  return (
    <section className={classes.panel} aria-label="Uploads">
      <div className={classes.head}>
        <span className={classes.words} role="status">
          {wordsOf(uploads)}
        </span>
        <span className={classes.numbers}>
          {sizeText(sent)} of {sizeText(total)}
          {going.length > 0 && speed !== undefined && ` · ${sizeText(Math.round(speed))}/s`}
          {going.length > 0 &&
            speed !== undefined &&
            speed > 0 &&
            ` · ${countdown(((total - sent) * 1000) / speed)} left`}
        </span>
        <Group gap={6} wrap="nowrap">
          {going.length > 0 && (
            <Button size="xs" variant="default" onClick={() => pause(ids(going))}>
              Pause
            </Button>
          )}
          {stopped.length > 0 && (
            <Button size="xs" variant="default" onClick={() => resume(ids(stopped))}>
              Go on
            </Button>
          )}
          {uploads.some(isOpen) ? (
            <Button size="xs" variant="default" onClick={() => cancel(ids(uploads))}>
              Cancel
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={clearEnded}>
              Close
            </Button>
          )}
          <Button size="xs" variant="subtle" aria-expanded={isOpened} onClick={() => setOpened(!isOpened)}>
            {isOpened ? "Hide" : "Details"}
          </Button>
        </Group>
      </div>
      <Progress value={total === 0 ? 100 : (sent * 100) / total} aria-label="Uploaded" size="sm" />
      {lost.length > 0 && <LostUploads device={device} lost={lost} />}
      {asking.length > 0 && <TakenNames asking={asking} />}
      {isOpened && (
        <ul className={classes.lines}>
          {uploads
            .toSorted((a, b) => rankOf(a) - rankOf(b))
            .slice(0, MOST_LINES)
            .map((upload) => (
              <UploadLine key={upload.id} upload={upload} />
            ))}
        </ul>
      )}
    </section>
  );
}

function sumOf(uploads: readonly Upload[], field: "sent" | "size"): number {
  return uploads.reduce((sum, upload) => sum + upload[field], 0);
}

const RANKS: readonly Upload["state"][] = [
  "asking",
  "failed",
  "running",
  "broken",
  "lost",
  "paused",
  "waiting",
];

function rankOf({ state }: Upload): number {
  const rank = RANKS.indexOf(state);
  return rank < 0 ? RANKS.length : rank;
}

function wordsOf(uploads: readonly Upload[]): string {
  const of = (state: Upload["state"]) => uploads.filter((one) => one.state === state).length;
  const open = uploads.filter(isOpen).length;
  const parts = [
    open > 0 && uploads.some(isGoing) && `Uploading ${plural(open, "file")}`,
    open === 0 && of("done") > 0 && `${plural(of("done"), "file")} uploaded`,
    of("broken") > 0 && "the connection is lost: it goes on by itself",
    of("paused") > 0 && `${of("paused")} paused`,
    of("failed") > 0 && `${of("failed")} failed`,
  ];
  return parts.filter((part) => part !== false).join(", ") || "Uploads";
}
