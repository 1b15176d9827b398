/** How often a machine is asked, and how far back its charts go: chosen on the page, and kept in this tab. */
import { isText, useKeptState } from "../../base/use-kept-state.ts";

interface Entry {
  /** In milliseconds. */
  readonly value: string;
  readonly label: string;
}

export interface Choice {
  readonly label: string;
  readonly data: readonly Entry[];
  readonly value: string;
  readonly choose: (value: string) => void;
}

/** Between two samples. */
const INTERVALS = [
  { value: "1000", label: "Every second" },
  { value: "2000", label: "Every 2 seconds" },
  { value: "5000", label: "Every 5 seconds" },
  { value: "15000", label: "Every 15 seconds" },
  { value: "60000", label: "Every minute" },
];
const RANGES = [
  { value: "60000", label: "The last minute" },
  { value: "300000", label: "The last 5 minutes" },
  { value: "900000", label: "The last 15 minutes" },
  { value: "3600000", label: "The last hour" },
];

export function useInterval(): Choice {
  return { label: "How often", data: INTERVALS, ...useChoice("monitor-interval", INTERVALS, "2000") };
}

export function useRange(): Choice {
  return { label: "How far back", data: RANGES, ...useChoice("monitor-range", RANGES, "300000") };
}

function useChoice(name: string, data: readonly Entry[], usual: string) {
  const [kept, choose] = useKeptState(name, isText);
  return { value: data.find(({ value }) => value === kept)?.value ?? usual, choose };
}
