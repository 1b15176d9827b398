/** Prints activity for people. */
import type { ActivityEntry } from "../../core/activity.ts";
import { oneLine, styled } from "./print.ts";

/** Limit on a line's text from outside, in characters. */
const SHOWN_CHARS = 160;

/** One or two lines about an entry. */
export function activityLines(entry: ActivityEntry): string[] {
  const clock = styled("dim", new Date(entry.at).toTimeString().slice(0, 8));
  const line = (...words: string[]) => [clock, ...words.filter((word) => word !== "")].join("  ");
  switch (entry.type) {
    case "started":
      return [line(whoOf(entry), styled("bold", short(entry.tool)), short(inputOf(entry)))];
    case "finished":
      return [line(whoOf(entry), short(entry.tool), endOf(entry)), ...previewLine(entry.preview)];
    case "refused":
      return [
        line(whoOf(entry), styled("bold", short(entry.tool)), short(inputOf(entry))),
        `  ${styled("red", `refused: ${entry.code ?? ""}`)}  ${short(entry.preview)}`,
      ];
    case "paused":
      return [
        line(
          styled("yellow", `Paused: closed to ${entry.paused === "everyone" ? "all callers" : "AI grants"}`),
        ),
      ];
    case "resumed":
      return [line(styled("green", "Open to callers again"))];
    case "connected":
      return [line(styled("green", "Connected to the relay"))];
    case "disconnected":
      return [line(styled("yellow", "Lost the connection to the relay"))];
  }
}

type CallEntry = Extract<ActivityEntry, { call: string }>;
type FinishedEntry = Extract<ActivityEntry, { type: "finished" }>;

function whoOf({ grant, surface }: CallEntry): string {
  if (surface === "local") return "this machine";
  return short(`${grant.name ?? grant.id}${grant.owner ? " (owner)" : ""}`);
}

function inputOf({ input }: CallEntry): string {
  return Object.entries(input)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(" ");
}

function endOf({ status, code, exit, ms }: FinishedEntry): string {
  const time = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  if (status === "error") return `${styled("red", code ?? "failed")} after ${time}`;
  if (status === "cancelled") return `${styled("yellow", "cancelled")} after ${time}`;
  const failed = exit === undefined || exit === 0 ? "" : `, ${styled("yellow", `exit code ${exit}`)}`;
  return `${styled("green", "done")} in ${time}${failed}`;
}

function previewLine(preview: string): string[] {
  const text = short(preview.trim());
  return text === "" ? [] : [styled("dim", `  ${text}`)];
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…` : line;
}
