/** Takes files and folders that are dropped on a folder's list. */
import { type DragEvent, type ReactNode, useState } from "react";
import { sayProblem } from "../../../ui/notices.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import classes from "../Files.module.css";
import { nameOf } from "../paths.ts";
import { droppedOf } from "./dropped.ts";
import { putDropped } from "./put.ts";

interface Props {
  readonly device: string;
  readonly folder: string;
  /** It takes what is dropped. */
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

export function DropZone({ device, folder, isOpen, children }: Props) {
  const [isOver, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside does the same for the keyboard.
    <div
      className={classes.drop}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        // Otherwise the browser would show the file in place of the page.
        event.preventDefault();
        if (isOpen) setOver(true);
        else event.dataTransfer.dropEffect = "none";
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        if (!isOpen) return;
        droppedOf(event.dataTransfer).then((dropped) => putDropped(device, folder, dropped), sayProblem);
      }}
    >
      {children}
      {isOver && (
        <div className={classes.dropHint}>
          <span>
            Drop to upload into <bdi>{visibleLine(nameOf(folder))}</bdi>
          </span>
        </div>
      )}
    </div>
  );
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes("Files");
}
