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
  readonly isReachable: boolean;
  readonly children: ReactNode;
}

export function DropZone({ device, folder, isReachable, children }: Props) {
  const [isOver, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => isReachable && dataTransfer.types.includes("Files");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside does the same for the keyboard.
    <div
      className={classes.drop}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
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
