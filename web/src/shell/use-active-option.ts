/** The active option of a list below a text field: the field keeps the focus, and its keys move through the list. */
import { type KeyboardEvent, useEffect, useId, useState } from "react";

interface Option {
  /** Without white space: it is part of an element's id. */
  readonly key: string;
}

/** `open` is called with the option that Enter is pressed on. */
export function useActiveOption<T extends Option>(options: readonly T[], open: (option: T) => void) {
  const listId = useId();
  const [key, setKey] = useState<string>();
  const active = options.find((option) => option.key === key) ?? options[0];
  const idOf = (option: Option) => `${listId}${option.key}`;
  const activeId = active && idOf(active);
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
  }, [activeId]);

  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the composition of a letter, and with other keys held these edit text.
    if (!active || event.nativeEvent.isComposing) return;
    if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const next = indexAfter(event.key, options.indexOf(active), options.length);
    if (event.key === "Enter") open(active);
    else if (next !== undefined) setKey(options.at(next)?.key);
    else return;
    event.preventDefault();
  };

  return {
    active,
    idOf,
    /** The first option is active again. */
    reset: () => setKey(undefined),
    field: {
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-expanded": active !== undefined,
      "aria-controls": active && listId,
      "aria-activedescendant": activeId,
      onKeyDown,
    },
    list: { role: "listbox", id: listId },
  } as const;
}

/** Where a key leads; undefined: it moves through no list. */
function indexAfter(key: string, index: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return (index + 1) % count;
    case "ArrowUp":
      return index - 1;
    case "Home":
      return 0;
    case "End":
      return -1;
    default:
      return undefined;
  }
}
