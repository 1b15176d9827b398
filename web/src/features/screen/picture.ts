/** A picture of a screen, as the tool Screenshot answers. */
import type { Success } from "../../calls/call-tool.ts";

export interface Picture {
  readonly type: string;
  readonly base64: string;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
  readonly monitors: readonly Monitor[];
  readonly isOneColour: boolean;
}

export interface Monitor {
  readonly index: number;
  /** "DP-1, 2560 × 1440". */
  readonly words: string;
}

const MOST_MONITORS = 32;

/** Throws Error: the answer has none. */
export function pictureIn({ image, metadata }: Success): Picture {
  if (!image) throw new Error("The machine's answer has no picture.");
  const { monitors } = metadata;
  return {
    type: image.media_type,
    base64: image.base64_data,
    at: Date.now(),
    monitors: Array.isArray(monitors) ? monitors.slice(0, MOST_MONITORS).flatMap(monitorOf) : [],
    isOneColour: metadata.one_colour === true,
  };
}

function monitorOf(told: unknown): Monitor[] {
  if (typeof told !== "object" || told === null) return [];
  const { index, name, width, height } = told as Readonly<Record<string, unknown>>;
  if (typeof index !== "number") return [];
  const size = typeof width === "number" && typeof height === "number" ? `, ${width} × ${height}` : "";
  return [{ index, words: `${String(name).slice(0, 100)}${size}` }];
}
