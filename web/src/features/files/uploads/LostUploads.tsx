/** Uploads that the page's reload interrupted: browsers give a file to a page once, so it has to be chosen again. */
import { Button } from "@mantine/core";
import { useRef } from "react";
import { plural } from "../../../ui/format.ts";
import { sayProblem } from "../../../ui/notices.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import { pickedOf } from "./dropped.ts";
import type { Upload } from "./item.ts";
import { addUploads, useQueue } from "./queue.ts";
import classes from "./Uploads.module.css";

export function LostUploads({ device, lost }: { device: string; lost: readonly Upload[] }) {
  const input = useRef<HTMLInputElement>(null);
  const [first] = lost;
  const take = (files: FileList) => {
    const before = lost.length;
    // Only those that are waited for: others are no part of this.
    const wanted = pickedOf(files).filter(({ file }) =>
      lost.some(({ size, modified }) => size === file.size && modified === file.lastModified),
    );
    addUploads(device, first?.folder ?? "/", wanted);
    const after = useQueue.getState().uploads.filter(({ state }) => state === "lost").length;
    if (after === before)
      sayProblem(new Error("These are other files, or they were changed: upload them anew instead."));
  };
  return (
    <div className={classes.question}>
      <span className={classes.words}>
        The page was loaded anew while {plural(lost.length, "file")} (
        {first && <bdi>{visibleLine(first.name)}</bdi>}
        {lost.length > 1 && " …"}) arrived. Choose the same again, and the rest is sent.
      </span>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="The same files again"
        onChange={({ currentTarget }) => {
          if (currentTarget.files) take(currentTarget.files);
          currentTarget.value = "";
        }}
      />
      <Button size="xs" variant="default" onClick={() => input.current?.click()}>
        Choose again …
      </Button>
    </div>
  );
}
