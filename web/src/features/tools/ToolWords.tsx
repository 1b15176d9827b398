/** A tool's description: a name in backticks may be another tool of the machine. */
import { Link } from "@tanstack/react-router";
import type { Tool } from "../../data/tools.ts";
import { WithCode } from "../../ui/WithCode.tsx";

interface Props {
  readonly text: string;
  readonly device: string;
  readonly tools: readonly Tool[];
}

export function ToolWords({ text, device, tools }: Props) {
  return (
    <WithCode
      text={text}
      name={(said) =>
        tools.some(({ name }) => name === said) ? (
          <Link to="/d/$device/tools/$tool" params={{ device, tool: said }}>
            <code>{said}</code>
          </Link>
        ) : (
          <code>{said}</code>
        )
      }
    />
  );
}
