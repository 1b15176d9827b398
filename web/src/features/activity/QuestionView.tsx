/** Exactly what a call would do. All of it comes from elsewhere, and is only ever text. */
import type { Question } from "@matrx/shared/question.ts";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Facts } from "../../ui/Facts.tsx";
import classes from "./QuestionView.module.css";
import { DiffLines, TextLines } from "./TextLines.tsx";

type Fact = readonly [string, ReactNode];

interface Props {
  readonly question: Question;
  /** About who asks. */
  readonly from?: readonly Fact[];
}

export function QuestionView({ question, from = [] }: Props) {
  const {
    summary,
    command,
    diff,
    diff_cut: isDiffCut,
    input,
    input_cut: isInputCut,
    warnings = [],
  } = question;
  return (
    <div className={classes.question}>
      {warnings.length > 0 && (
        <ul className={classes.warnings} aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <IconAlertTriangle size={16} aria-hidden />
              <span>
                <strong>Warning: </strong>
                <bdi>{warning}</bdi>
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className={classes.summary}>
        <bdi>{summary}</bdi>
      </p>
      {command && (
        <Part name="Command">
          <TextLines text={command.text} label="Command" />
        </Part>
      )}
      {diff !== undefined && (
        <Part name="Changes" isCut={isDiffCut}>
          <DiffLines text={diff} label="Changes" />
        </Part>
      )}
      <Facts facts={[...from, ...factsOf(question)]} />
      <Part name="Input" isCut={isInputCut}>
        <TextLines text={input} label="Input" />
      </Part>
    </div>
  );
}

function Part({ name, isCut, children }: { name: string; isCut?: boolean | undefined; children: ReactNode }) {
  return (
    <div>
      <p className={classes.part}>{name}</p>
      {children}
      {isCut && <p className={classes.cut}>Not all of it is shown.</p>}
    </div>
  );
}

function factsOf({ paths = [], url, app, command }: Question): Fact[] {
  const touched = paths.map(({ path, intent }) => (
    <span key={`${intent} ${path}`} className={classes.entry}>
      {intent}: <bdi>{path}</bdi>
    </span>
  ));
  return [
    ["Paths", touched.length > 0 ? touched : undefined],
    ["Address", url],
    ["Program", app],
    ...(command ? reachOf(command) : []),
  ];
}

function reachOf({ cwd, sandbox, readable, writable, network }: NonNullable<Question["command"]>): Fact[] {
  if (!sandbox)
    return [
      ["Runs in", cwd],
      ["Sandbox", "No: it can do whatever the agent’s user can, network included"],
    ];
  return [
    ["Runs in", cwd],
    ["Sandbox", "Yes"],
    ["May read", list(readable)],
    ["May change", list(writable)],
    ["Network", list(network, "none")],
  ];
}

function list(items: readonly string[] = [], none = "nothing"): ReactNode {
  if (items.length === 0) return none;
  return items.map((item) => (
    <span key={item} className={classes.entry}>
      <bdi>{item}</bdi>
    </span>
  ));
}
