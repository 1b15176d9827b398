/** Calls that wait for this person, on whatever machine: shown as they come, decided here. */
import { Text } from "@mantine/core";
import { type RefObject, useLayoutEffect, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import { useLive } from "../../relay/live.ts";
import { ApprovalCard } from "./ApprovalCard.tsx";
import { Decided } from "./Decided.tsx";
import { useDecisions } from "./decisions.ts";
import classes from "./Feed.module.css";
import { GuardContext, useGuard } from "./guard.ts";

interface Props {
  /** What stands above, and moves the cards by its size. */
  readonly above: RefObject<HTMLElement | null>;
  /** Says so if nothing waits. */
  readonly isAlone: boolean;
}

export function NeedsYou({ above, isAlone }: Props) {
  const sending = useDecisions((decisions) => decisions.sending);
  const all = useLive(useShallow(({ approvals }) => [...approvals.values()]));
  const shown = all.filter(({ id, state }) => state === "pending" || sending.has(id));
  const over = all.filter(({ id, state }) => state !== "pending" && !sending.has(id));
  const title = useRef<HTMLHeadingElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const guard = useGuard(list, above);
  useFocusAfterDecision(title, shown.length);
  const isEmpty = all.length === 0 && !isAlone;
  return (
    <section className={classes.part} aria-label="Needs you" hidden={isEmpty}>
      <h2 ref={title} tabIndex={-1} className={classes.title}>
        {shown.length > 0 ? `Needs you (${shown.length})` : "Needs you"}
      </h2>
      {shown.length === 0 && <Text size="sm">Nothing waits for your decision.</Text>}
      <div ref={list}>
        <GuardContext value={guard}>
          <ul className={classes.list}>
            {shown.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
          </ul>
        </GuardContext>
      </div>
      <Decided approvals={over} />
    </section>
  );
}

/** A card that goes takes the focus with it: it goes on at the title. */
function useFocusAfterDecision(title: RefObject<HTMLElement | null>, count: number): void {
  const before = useRef(count);
  useLayoutEffect(() => {
    if (count < before.current && document.activeElement === document.body)
      title.current?.focus({ preventScroll: true });
    before.current = count;
  }, [title, count]);
}
