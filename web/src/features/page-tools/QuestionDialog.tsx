/** Asks the person what an AI or a script may do. Its no has the focus, and only a person's own press says yes. */
import "../../ui/mantine-rest.css";
import { Button, Modal, Text } from "@mantine/core";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { plural } from "../../ui/format.ts";
import { visibleLines } from "../../ui/visible-text.ts";
import { DecisionButton } from "../activity/DecisionButton.tsx";
import { GuardContext, useGuard } from "../activity/guard.ts";
import { TextLines } from "../activity/TextLines.tsx";
import type { Act, Question } from "./gate.ts";
import classes from "./PageTools.module.css";

/** What a phone shows without scrolling. */
const MOST_LINES = 6;
const MOST_CHARS = 200;
const END_CHARS = 60;

interface Props {
  readonly question: Question;
  readonly machine: string;
}

export function QuestionDialog({ question, machine }: Props) {
  const { act, answer } = question;
  return (
    <Modal
      opened
      onClose={() => answer("deny")}
      closeOnClickOutside={false}
      withCloseButton={false}
      size="lg"
      title={
        act
          ? `An AI or a script wants to do this on ${machine}`
          : `An AI or a script in this browser wants to use ${machine}`
      }
      transitionProps={{ duration: 0 }}
    >
      {act ? (
        <ActQuestion key={question.id} act={act} answer={answer} />
      ) : (
        <ReachQuestion key={question.id} answer={answer} />
      )}
    </Modal>
  );
}

type Answering = Pick<Question, "answer">;

function ReachQuestion({ answer }: Answering) {
  const about = useId();
  return (
    <Guarded>
      <Text id={about} size="sm">
        It would see the files and terminals that you see on this machine. You would be asked before each
        command, and before a terminal is opened or closed. Your answer holds in this tab until you leave the
        machine or press Stop.
      </Text>
      <div className={classes.answers}>
        <Deny answer={answer} />
        <DecisionButton about={about} isSending={false} press={() => answer("look")}>
          Look only
        </DecisionButton>
        <DecisionButton about={about} isSending={false} press={() => answer("act")}>
          Also run commands, asking each time
        </DecisionButton>
      </div>
    </Guarded>
  );
}

function ActQuestion({ act: { what, exactly }, answer }: Answering & { readonly act: Act }) {
  const about = useId();
  return (
    <Guarded>
      <p id={about} className={classes.what}>
        {what}
      </p>
      {exactly !== undefined && <Exactly text={visibleLines(exactly)} />}
      <div className={classes.answers}>
        <Deny answer={answer} />
        <DecisionButton about={about} isSending={false} press={() => answer("all")}>
          Allow all for 15 minutes
        </DecisionButton>
        <DecisionButton about={about} isSending={false} press={() => answer("once")}>
          Allow once
        </DecisionButton>
      </div>
    </Guarded>
  );
}

/** Of what may not be seen at once, also its size and its end: nothing hides below many empty lines. */
function Exactly({ text }: { readonly text: string }) {
  const lines = text.trimEnd().split("\n");
  const isLong = lines.length > MOST_LINES || text.length > MOST_CHARS;
  return (
    <div className={classes.exactly}>
      <TextLines label="Exactly this" text={text} />
      {isLong && (
        <>
          <p className={classes.size}>
            {plural(lines.length, "line")}, {plural(text.length, "character")}. It ends with:
          </p>
          <TextLines label="Its end" text={endOf(lines.at(-1) ?? "")} />
        </>
      )}
    </div>
  );
}

/** On two lines of a phone; half a character is none. */
function endOf(line: string): string {
  const end = [...line.slice(-2 * END_CHARS)].slice(-END_CHARS).join("");
  return end.length < line.length ? `… ${end.trimStart()}` : line;
}

/** Nothing can be allowed that has only just appeared. */
function Guarded({ children }: { children: ReactNode }) {
  const content = useRef<HTMLDivElement>(null);
  const guard = useGuard(content);
  return (
    <GuardContext value={guard}>
      <div ref={content}>{children}</div>
    </GuardContext>
  );
}

/** Also of a question that follows another one in the same dialog. */
function Deny({ answer }: Answering) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <Button
      ref={button}
      variant="default"
      className={classes.deny ?? ""}
      data-autofocus
      onClick={() => answer("deny")}
    >
      Deny
    </Button>
  );
}
