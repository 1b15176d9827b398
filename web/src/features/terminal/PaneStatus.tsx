/** How a terminal stands: nothing while all is well, but its size and who else is there. */
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { plural, size as sizeText } from "../../ui/format.ts";
import { Status, type Tone } from "../../ui/Status.tsx";
import { shortLine } from "../../ui/visible-text.ts";
import { ApprovalWords } from "../../ui/WaitsForApproval.tsx";
import type { AttachmentState } from "./attachment.ts";
import type { Pane } from "./layout.ts";
import classes from "./Terminal.module.css";
import type { Terminals } from "./use-terminals.ts";
import { useViewState } from "./use-view-state.ts";
import type { TerminalView } from "./view.ts";

/** Nobody allowed it; the terminal itself goes on. */
const DENIED: ReadonlySet<string> = new Set(["APPROVAL_DENIED", "APPROVAL_EXPIRED"]);

interface Props {
  readonly pane: Pane;
  readonly view: TerminalView;
  readonly terminals: Terminals;
  readonly watch: (watches: boolean) => void;
}

export function PaneStatus({ pane, view, terminals, watch }: Props) {
  const state = useViewState(view);
  if (!state) return null;
  const { attachment, size, viewers, missed, isForeignSize } = state;
  const [tone, text] = words(attachment);
  const isLive = attachment.kind === "live";
  const isOver = attachment.kind === "ended" || attachment.kind === "failed";
  const isDenied = attachment.kind === "failed" && DENIED.has(attachment.error.code);
  return (
    <div className={classes.status}>
      <span role="status" className={classes.standing}>
        {text && <Status tone={tone}>{text}</Status>}
      </span>
      {isDenied && <Small act={() => view.attach()}>Ask again</Small>}
      {isOver && (
        <>
          {!isDenied && <Small act={() => void terminals.startAgain(pane)}>Start again</Small>}
          <Small act={() => terminals.leave(pane)}>Close</Small>
        </>
      )}
      {isLive && pane.watches && (
        <>
          <Status tone="info">Only watching</Status>
          <Small act={() => watch(false)}>Type here too</Small>
        </>
      )}
      {isLive && !pane.watches && isForeignSize && (
        <Small act={() => view.takeSize()}>
          {`Has the size of another window (${size.cols}×${size.rows}): fit it to this one`}
        </Small>
      )}
      {missed > 0 && <span>{sizeText(missed)} of output are missing: it came too fast</span>}
      <span className={classes.facts}>
        {viewers.length > 1 && <span>{plural(viewers.length, "viewer")}</span>}
        <span>
          {size.cols}×{size.rows}
        </span>
      </span>
    </div>
  );
}

function Small({ act, children }: { act: () => void; children: ReactNode }) {
  return (
    <Button size="compact-xs" variant="default" onClick={act}>
      {children}
    </Button>
  );
}

function words(state: AttachmentState): readonly [Tone, ReactNode] {
  switch (state.kind) {
    case "connecting":
      return ["idle", "Connecting …"];
    case "asked":
      return ["warn", <ApprovalWords key="asked">This terminal</ApprovalWords>];
    case "live":
      return ["ok", undefined];
    case "reconnecting":
      return state.isOffline
        ? ["warn", "The machine is offline. The terminal comes back with it; what you type waits"]
        : ["warn", `${shortLine(state.why)}. Reconnecting …; what you type waits`];
    case "ended":
      return ["idle", endWords(state)];
    case "failed":
      return state.error.code === "NOT_FOUND"
        ? ["bad", "This terminal is gone: it ended, or the machine was restarted"]
        : [
            "bad",
            [state.error.message, state.error.hint]
              .filter(Boolean)
              .map((said) => shortLine(said ?? ""))
              .join(". "),
          ];
    default:
      return state satisfies never;
  }
}

function endWords({ code, signal }: Extract<AttachmentState, { kind: "ended" }>): string {
  if (signal !== undefined) return `Ended by ${shortLine(signal)}`;
  return code === undefined ? "Ended" : `Ended with exit code ${code}`;
}
