/** Copies a text, and says so. */
import { Button, type ButtonProps } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import { sayProblem } from "./notices.ts";

const SHOWN_FOR = 2_000;

interface Props extends ButtonProps {
  /** A long one is made when it is copied. */
  readonly text: string | (() => string);
  readonly children?: ReactNode;
}

export function CopyButton({ text, children = "Copy", ...props }: Props) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
      () => setCopied(true),
      () => sayProblem(new Error("The browser did not allow copying: select the text instead.")),
    );
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={isCopied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      {...props}
      onClick={() => void copy()}
    >
      {isCopied ? "Copied" : children}
    </Button>
  );
}
