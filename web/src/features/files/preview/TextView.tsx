/** Text, in pieces: the first one at once, others when somebody wants more. */
import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { readPiece } from "../../../relay/file-bytes.ts";
import { size as sizeText } from "../../../ui/format.ts";
import { Problem } from "../../../ui/Problem.tsx";
import { scrolled } from "../../../ui/scrolled.ts";
import { useWork } from "../../../ui/use-work.ts";
import { isConflict } from "../errors.ts";
import type { Encoding, Shown } from "./head.ts";
import classes from "./Preview.module.css";
import { TextLines } from "./TextLines.tsx";

/** Of each further piece, in bytes. */
const MORE = 256 * 1024;
/** More text makes a page slow, in bytes. */
const MOST = 4 * 1024 * 1024;

export function TextView({ file, name, head, again, encoding }: Shown & { readonly encoding: Encoding }) {
  const [parts, setParts] = useState([head.bytes]);
  const [error, setError] = useState<unknown>();
  const { isBusy, run } = useWork(setError);
  const read = parts.reduce((sum, part) => sum + part.length, 0);
  const isWhole = read >= head.size;
  const more = () =>
    run(async () => {
      setError(undefined);
      const part = { from: read, length: MORE, etag: head.etag };
      const { bytes } = await readPiece(file, part, new AbortController().signal);
      setParts([...parts, bytes]);
    });
  const decoder = new TextDecoder(encoding);
  const pieces = parts.map((part) => decoder.decode(part, { stream: true }));
  // Half a character at the very end is one that can't be read; before that, the rest of it comes.
  const text = pieces.join("") + (isWhole ? decoder.decode() : "");
  return (
    <>
      <div className={classes.text} {...scrolled("Content of the file")}>
        <TextLines text={text} name={name} />
      </div>
      {!isWhole && (
        <div className={classes.foot}>
          <Text size="sm" c="dimmed">
            The first {sizeText(read)} of {sizeText(head.size)}.
            {read >= MOST && " That is as much as can be shown here: download it for the rest."}
          </Text>
          {read < MOST && (
            <Button size="xs" variant="default" loading={isBusy} onClick={() => void more()}>
              Show more
            </Button>
          )}
        </div>
      )}
      {encoding !== "utf-8" && (
        <Text className={classes.foot} size="sm" c="dimmed">
          Read as {encoding.toUpperCase()}: it is no UTF-8.
        </Text>
      )}
      {error !== undefined &&
        (isConflict(error) ? (
          <div className={classes.foot}>
            <Text size="sm">The file has changed meanwhile.</Text>
            <Button size="xs" variant="default" onClick={again}>
              Read it anew
            </Button>
          </div>
        ) : (
          <Problem error={error} />
        ))}
    </>
  );
}
