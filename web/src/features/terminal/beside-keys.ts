/** The page's own keys, pressed where the focus is beside a terminal. Within one, its view has them. */
import type { KeyboardEvent } from "react";
import { type Command, commandOf } from "./keys.ts";

export function commandBeside(event: KeyboardEvent<HTMLElement>): Command | undefined {
  const { target, currentTarget, altKey, nativeEvent } = event;
  if (event.defaultPrevented || !altKey || !(target instanceof Element)) return undefined;
  // Dialogs are elsewhere on the page, and in fields these keys choose words.
  if (!currentTarget.contains(target) || target.matches("input, textarea")) return undefined;
  return commandOf(nativeEvent, false);
}
