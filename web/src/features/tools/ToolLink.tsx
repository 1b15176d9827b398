/** A tool in the list: its name, what it does to the machine, and whether it can work there now. */
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Tool } from "../../data/tools.ts";
import { effectWords } from "../../ui/effect-words.ts";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { isRunning } from "./run.ts";
import { useRuns } from "./runs.ts";
import classes from "./ToolList.module.css";

const SHORT = { read: "Reads", write: "Writes", execute: "Runs or deletes" } as const;
/** Characters of a description: more do not fit into its lines. */
const SHOWN = 200;

export function ToolLink({ device, tool }: { device: string; tool: Tool }) {
  const { name, title, description, effect, unavailable } = tool;
  const runs = useRuns((state) =>
    state.runs.some((run) => run.device === device && run.tool === name && isRunning(run)),
  );
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (link.current?.ariaCurrent === "page") link.current.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <Link
      ref={link}
      to="/d/$device/tools/$tool"
      params={{ device, tool: name }}
      className={classes.tool}
      title={effectWords(effect).text}
    >
      <span className={classes.head}>
        <span className={classes.name}>{visibleLine(name)}</span>
        {runs ? (
          <Status tone="info">Running</Status>
        ) : (
          <Status tone={effectWords(effect).tone}>{SHORT[effect] ?? effect}</Status>
        )}
      </span>
      {title !== undefined && <span className={classes.title}>{visibleLine(title)}</span>}
      <bdi className={classes.about}>
        {unavailable === undefined
          ? visibleLine(description.slice(0, SHOWN).replaceAll("`", ""))
          : `Can't work now. ${visibleLine(unavailable.slice(0, SHOWN))}`}
      </bdi>
    </Link>
  );
}
