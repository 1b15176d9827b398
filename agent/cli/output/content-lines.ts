/** What an answer has besides its text and its picture, one line for each part. */
import type { Content } from "@matrx/shared/content.ts";
import { oneLine } from "./print.ts";

const NAME_CHARS = 200;
const MOST = 50;

/** Lines for people; texts, and the picture that the answer has by itself, are left out. */
export function contentLines(content: readonly Content[] = []): string[] {
  const others = content.filter(({ type }) => type !== "text");
  const firstImage = others.findIndex(({ type }) => type === "image");
  const lines = others.filter((_, at) => at !== firstImage).map(lineOf);
  return lines.length > MOST ? [...lines.slice(0, MOST), `and ${lines.length - MOST} more parts`] : lines;
}

function lineOf(part: Content): string {
  switch (part.type) {
    case "text":
      return shown(part.text);
    case "image":
    case "audio":
      return `${part.type} (${shown(part.mimeType)}, ${bytesOf(part.data)} bytes): read it with --json`;
    case "resource_link":
      return `link: ${shown(part.title ?? part.name)} ${shown(part.uri)}`;
    case "resource":
      return `resource: ${shown(part.resource.uri)} (read it with --json)`;
  }
}

function shown(text: string): string {
  return oneLine(text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS)}…` : text);
}

function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
