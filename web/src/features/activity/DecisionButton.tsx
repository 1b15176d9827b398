/** A button that decides: it takes a press only on what stood still, and says so while its answer is on its way. */
import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import classes from "./Decision.module.css";
import { useGuarded } from "./guard.ts";

interface Props {
  readonly kind?: "main" | "danger";
  /** The id of what it decides on. */
  readonly about: string;
  /** A decision on it is on its way. */
  readonly isSending: boolean;
  readonly press: () => void;
  readonly children: ReactNode;
}

const LOOKS = {
  main: { variant: "filled" },
  danger: { variant: "outline", color: "var(--bad)" },
  other: { variant: "default" },
} as const;

export function DecisionButton({ kind, about, isSending, press, children }: Props) {
  const { guard, isInert } = useGuarded();
  const [isPressed, setPressed] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSending || !isPressed) return;
    setPressed(false);
    // A button that was disabled has lost the focus.
    button.current?.focus({ preventScroll: true });
  }, [isSending, isPressed]);
  return (
    <Button
      ref={button}
      type="button"
      {...LOOKS[kind ?? "other"]}
      className={classes.button ?? ""}
      aria-describedby={about}
      // A disabled button would lose the focus.
      aria-disabled={isInert || undefined}
      onClick={({ nativeEvent }) => {
        if (!guard.admits(nativeEvent)) return;
        setPressed(true);
        press();
      }}
    >
      {isSending && isPressed ? "Sending …" : children}
    </Button>
  );
}
