/** Finds text in what a terminal has written. */
import { ActionIcon, TextInput, useComputedColorScheme } from "@mantine/core";
import { IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import classes from "./Terminal.module.css";
import type { TerminalView } from "./view.ts";

interface Found {
  readonly resultIndex: number;
  readonly resultCount: number;
}

const DECORATIONS = {
  dark: {
    matchBackground: "#5a4a12",
    matchOverviewRuler: "#d9a400",
    activeMatchBackground: "#b35c00",
    activeMatchColorOverviewRuler: "#ff8c1a",
  },
  light: {
    matchBackground: "#ffe08a",
    matchOverviewRuler: "#d9a400",
    activeMatchBackground: "#ffb84d",
    activeMatchColorOverviewRuler: "#b35c00",
  },
} as const;

export function SearchBar({ view, close }: { view: TerminalView; close: () => void }) {
  const decorations = DECORATIONS[useComputedColorScheme("dark", { getInitialValueInEffect: false })];
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    const listening = view.search.onDidChangeResults(setFound);
    return () => {
      listening.dispose();
      view.search.clearDecorations();
    };
  }, [view]);
  const next = () => view.search.findNext(text, { decorations });
  const previous = () => view.search.findPrevious(text, { decorations });
  return (
    <search className={classes.search} data-own-keys>
      <TextInput
        autoFocus
        size="xs"
        aria-label="Search in the terminal"
        placeholder="Search"
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value);
          view.search.findNext(value, { incremental: true, decorations });
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          if (event.key !== "Enter") return;
          event.preventDefault();
          if (event.shiftKey) previous();
          else next();
        }}
      />
      <span role="status" className={classes.found}>
        {text !== "" && found && wordsOf(found)}
      </span>
      <ActionIcon variant="subtle" color="gray" aria-label="Previous match" onClick={previous}>
        <IconChevronUp size={16} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label="Next match" onClick={next}>
        <IconChevronDown size={16} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label="End the search" onClick={close}>
        <IconX size={16} />
      </ActionIcon>
    </search>
  );
}

function wordsOf({ resultIndex, resultCount }: Found): string {
  if (resultCount === 0) return "Not found";
  return resultIndex < 0 ? `Many` : `${resultIndex + 1} of ${resultCount}`;
}
