/** A call that is over: what came of it, and all that is kept of it on demand. */
import { IconChevronRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { memo, useId, useState } from "react";
import { effectWords } from "../../ui/effect-words.ts";
import { clockTime, duration } from "../../ui/format.ts";
import { visibleLines } from "../../ui/visible-text.ts";
import classes from "./Call.module.css";
import { CallHead } from "./CallHead.tsx";
import type { EndedCall } from "./calls.ts";
import { Parameters } from "./Parameters.tsx";
import { ScrolledText } from "./ScrolledText.tsx";
import { makerName, outcomeWords } from "./words.ts";

interface Props {
  readonly call: EndedCall;
  readonly machine: string;
  /** It stands for its record: all of it is shown. */
  readonly isOnly?: boolean;
}

/** The feed changes often, a call that is over does not. */
export const EndedCallItem = memo(
  EndedCallView,
  (one, other) =>
    one.call.call === other.call.call &&
    one.call.outcome === other.call.outcome &&
    one.machine === other.machine,
);

function EndedCallView({ call: ended, machine, isOnly = false }: Props) {
  const { call, device, tool, effect, maker, input, outcome, code, exit, preview, at } = ended;
  const id = useId();
  const [isOpen, setOpen] = useState(isOnly);
  return (
    <li className={classes.call} aria-labelledby={id}>
      <CallHead
        id={id}
        tool={tool}
        machine={machine}
        who={makerName(maker)}
        time={<time dateTime={at}>{clockTime(at)}</time>}
        state={outcomeWords(outcome, exit, code)}
      />
      <Parameters input={input} isShort={!isOpen} />
      {preview &&
        (isOpen ? (
          <ScrolledText label="Beginning of its output">{visibleLines(preview)}</ScrolledText>
        ) : (
          <pre className={classes.preview}>{visibleLines(preview)}</pre>
        ))}
      <div className={classes.foot}>
        {!isOnly && (
          <button
            type="button"
            className={classes.toggle}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <IconChevronRight size={14} aria-hidden />
            Details
          </button>
        )}
        <span>{endOf(ended)}</span>
        {isOpen && (
          <>
            <span>{effectWords(effect).text}</span>
            <span>{new Date(at).toLocaleString()}</span>
            {!isOnly && (
              <Link to="/d/$device/calls/$call" params={{ device, call }}>
                Open its record
              </Link>
            )}
          </>
        )}
      </div>
    </li>
  );
}

/** "exit 3 · after 2.1 s": why and how long, as far as it is known. */
function endOf({ code, exit, ms, times = 1 }: EndedCall): string {
  const parts = [
    code !== undefined && code !== "CANCELLED" && code !== "APPROVAL_DENIED" && code,
    exit !== undefined && `exit ${exit}`,
    ms !== undefined && `after ${duration(ms)}`,
    times > 1 && `${times} times`,
  ];
  return parts.filter(Boolean).join(" · ");
}
