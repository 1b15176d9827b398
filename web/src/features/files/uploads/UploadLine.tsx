/** One file on its way. */
import { CloseButton } from "@mantine/core";
import { size as sizeText } from "../../../ui/format.ts";
import { shortLine, visibleLine } from "../../../ui/visible-text.ts";
import { numbered, type Upload } from "./item.ts";
import { cancel } from "./queue.ts";
import classes from "./Uploads.module.css";

const WORDS: Readonly<Record<Upload["state"], string>> = {
  waiting: "waits",
  running: "",
  paused: "paused",
  broken: "connection lost",
  asking: "already there",
  lost: "waits for the file",
  failed: "failed",
  done: "done",
};

export function UploadLine({ upload }: { upload: Upload }) {
  const { id, name, keepBoth = 1, size, sent, state, error } = upload;
  const shown = visibleLine(numbered(name, keepBoth));
  return (
    <li className={classes.line}>
      <bdi className={classes.name}>{shown}</bdi>
      <span className={classes.numbers}>
        {WORDS[state] || `${Math.floor((sent * 100) / Math.max(size, 1))} %`} · {sizeText(size)}
      </span>
      <CloseButton size="sm" aria-label={`Take ${shown} from the list`} onClick={() => cancel([id])} />
      {error && (
        <span className={classes.why}>
          <bdi>{shortLine(error.message)}</bdi> {error.hint && <bdi>{shortLine(error.hint)}</bdi>}
        </span>
      )}
    </li>
  );
}
