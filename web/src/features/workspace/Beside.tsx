/** The files, and the machine's terminals right of them or below. Neither begins anew when the other comes, goes or moves. */
import { Splitter } from "@mantine/core";
import { CatchBoundary } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef } from "react";
import { useLack } from "../../machine/use-lack.ts";
import { PageError } from "../../ui/PageError.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { useWish } from "../terminal/wish.ts";
import { focusFiles, focusTerminal } from "./focus.ts";
import { LEAST_SHARE } from "./saved.ts";
import { useFilesKey } from "./use-files-key.ts";
import type { FilesWorkspace } from "./use-workspace.ts";
import classes from "./Workspace.module.css";

const Workspace = lazy(async () => ({ default: (await import("../terminal/TerminalPage.tsx")).Workspace }));

interface Props {
  readonly workspace: FilesWorkspace;
  readonly device: string;
  /** Its name. */
  readonly machine: string;
  /** The folder that is shown; undefined: it is not read yet. */
  readonly folder: string | undefined;
  /** The files. */
  readonly children: ReactNode;
}

export function Beside({ workspace, device, machine, folder, children }: Props) {
  const { isOpen, isPhone, side, share } = workspace;
  const lack = useLack(device, "TerminalAttach");
  const box = useRef<HTMLDivElement>(null);
  useFilesKey(() => {
    if (!isOpen) return workspace.open();
    workspace.show("terminal");
    focusTerminal(box.current);
  });
  useShownWish(device, () => workspace.show("terminal"));
  const toFiles = () => {
    workspace.show("files");
    focusFiles(box.current);
  };
  return (
    <Splitter
      ref={box}
      orientation={side === "right" ? "horizontal" : "vertical"}
      className={classes.beside}
      data-phone={isPhone}
      lineSize={isOpen && !isPhone ? 6 : 0}
      sizes={isOpen ? [share, 100 - share] : [100]}
      onSizeChange={([size]) => typeof size === "number" && workspace.resize(size)}
      step={2}
      attributes={{ handle: { "aria-label": "Move the bar between files and terminals" } }}
    >
      <Splitter.Pane defaultSize={55} min={LEAST_SHARE} className={classes.files}>
        {children}
      </Splitter.Pane>
      {isOpen && (
        <Splitter.Pane
          defaultSize={45}
          min={LEAST_SHARE}
          className={classes.terminals}
          renderRoot={(props) => <section aria-label="Terminals" {...props} />}
        >
          <CatchBoundary getResetKey={() => device} errorComponent={PageError}>
            <Suspense fallback={<Waiting />}>
              {lack ?? <Workspace {...{ device, machine, toFiles, folder }} />}
            </Suspense>
          </CatchBoundary>
        </Splitter.Pane>
      )}
    </Splitter>
  );
}

/** Who wants a terminal in a folder sees it, on a phone too. */
function useShownWish(device: string, show: () => void): void {
  const shown = useEffectEvent(show);
  useEffect(() => useWish.subscribe(({ wish }) => wish?.device === device && shown()), [device]);
}
