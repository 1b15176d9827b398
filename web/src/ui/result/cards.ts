/** Views of their own that results have, above their text: `cards/TOOL.tsx` makes it of what the tool TOOL returns for programs. */
import type { ReactNode } from "react";

/** What a machine told: nothing of it is certain. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Undefined if the result isn't of the kind that it knows. */
export type Card = (metadata: Metadata) => ReactNode | undefined;

const CARDS = import.meta.glob<Card>("./cards/*.tsx", { eager: true, import: "card" });

export function cardOf(tool: string, metadata: Metadata): ReactNode | undefined {
  return CARDS[`./cards/${tool}.tsx`]?.(metadata);
}
