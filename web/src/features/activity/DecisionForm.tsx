/** The buttons under a question: a person's decision, on exactly what stands above them. */

import { Textarea } from "@mantine/core";
import type { Decision, Reach } from "@matrx/shared/approval.ts";
import type { Question } from "@matrx/shared/question.ts";
import { useId } from "react";
import { isText, useKeptState } from "../../base/use-kept-state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { editableJson } from "../../ui/visible-text.ts";
import classes from "./Decision.module.css";
import { DecisionButton } from "./DecisionButton.tsx";
import { inputObject } from "./input-object.ts";

/** As many characters as the relay takes. */
const NOTE_MAX = 1000;

interface Props {
  /** Its id: what was typed waits under it. */
  readonly approval: string;
  readonly question: Question;
  /** Whose token "always" edits; undefined: it has no rules of its own that could be lifted. */
  readonly liftsFor: string | undefined;
  /** The id of what asks. */
  readonly heading: string;
  readonly isSending: boolean;
  readonly problem: unknown;
  readonly decide: (decision: Decision) => void;
  readonly fail: (error: unknown) => void;
}

export function DecisionForm({
  approval,
  question,
  liftsFor,
  heading,
  isSending,
  problem,
  decide,
  fail,
}: Props) {
  const always = useId();
  const about = { about: heading, isSending };
  const allow = (reach: Reach) => () => decide({ decision: "allow", for: reach });
  return (
    <fieldset className={classes.decision} aria-labelledby={heading} disabled={isSending}>
      <div className={classes.answers}>
        <DecisionButton kind="main" {...about} press={allow("once")}>
          Allow once
        </DecisionButton>
        <DecisionButton kind="danger" {...about} press={() => decide({ decision: "deny" })}>
          Deny
        </DecisionButton>
        <DecisionButton {...about} press={allow("hour")}>
          Allow the same call for an hour
        </DecisionButton>
        {liftsFor !== undefined && (
          <DecisionButton {...about} about={always} press={allow("always")}>
            Always for this tool
          </DecisionButton>
        )}
      </div>
      {liftsFor !== undefined && (
        <p className={classes.words} id={always}>
          Always: this edits the token <bdi>“{liftsFor}”</bdi>. On all its devices its own rules no longer ask
          about {exceptedWords(question)}, whatever the input.
        </p>
      )}
      {problem !== undefined && <Problem error={problem} />}
      {!question.input_cut && <EditInput {...{ approval, question, ...about, decide, fail }} />}
      <DenyWithNote {...{ approval, ...about, decide }} />
    </fieldset>
  );
}

/** What "always" is for: the tool, and what else this call does. */
function exceptedWords({ tool, effect, also = [] }: Question): string {
  if (tool === "Bash" && effect === "read") return `read-only commands of ${tool}`;
  return also.length === 0 ? tool : `${tool}, also where it does what ${also.join(" and ")} does`;
}

/** What a button decides on, by its id, and whether a decision is on its way. */
interface About {
  readonly about: string;
  readonly isSending: boolean;
}

type EditProps = About & Pick<Props, "approval" | "question" | "decide" | "fail">;

/** What was typed, and the input that it was made of. */
interface Edited {
  readonly of: string;
  readonly text: string;
}

function EditInput({ approval, question, about, isSending, decide, fail }: EditProps) {
  const [edited, setEdited] = useKeptState(`edited:${approval}`, isEdited);
  const text = edited?.of === question.input ? edited.text : editableJson(question.input);
  const send = () => {
    try {
      decide({ decision: "allow", input: inputObject(text) });
    } catch (error) {
      fail(error);
    }
  };
  return (
    <details className={classes.more}>
      <summary>Edit before allowing</summary>
      <Textarea
        label="Input as JSON"
        description="This runs instead, once. The machine checks it first; then you see what it made of it."
        rows={8}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: classes.json ?? "" }}
        value={text}
        onChange={({ currentTarget: { value } }) => setEdited({ of: question.input, text: value })}
      />
      <DecisionButton about={about} isSending={isSending} press={send}>
        Allow with these changes
      </DecisionButton>
    </details>
  );
}

function isEdited(kept: unknown): kept is Edited {
  if (typeof kept !== "object" || kept === null || !("of" in kept) || !("text" in kept)) return false;
  return isText(kept.of) && isText(kept.text);
}

type NoteProps = About & Pick<Props, "approval" | "decide">;

function DenyWithNote({ approval, about, isSending, decide }: NoteProps) {
  const [note = "", setNote] = useKeptState(`note:${approval}`, isText);
  const word = note.trim();
  return (
    <details className={classes.more}>
      <summary>Deny with a word to the AI</summary>
      <Textarea
        label="What it should know"
        description="It gets this with the refusal."
        rows={3}
        maxLength={NOTE_MAX}
        autoComplete="off"
        value={note}
        onChange={({ currentTarget: { value } }) => setNote(value)}
      />
      <DecisionButton
        kind="danger"
        about={about}
        isSending={isSending}
        press={() => decide({ decision: "deny", ...(word && { note: word }) })}
      >
        Deny with this word
      </DecisionButton>
    </details>
  );
}
