/** A file that is nothing to look at: its first bytes. */
import { Text } from "@mantine/core";
import { scrolled } from "../../../ui/scrolled.ts";
import type { Head } from "./head.ts";
import classes from "./Preview.module.css";

const SHOWN = 1024;
const PER_LINE = 16;

export function BytesView({ head: { bytes } }: { head: Head }) {
  const lines = Array.from({ length: Math.ceil(Math.min(bytes.length, SHOWN) / PER_LINE) }, (_, at) =>
    lineOf(bytes.slice(at * PER_LINE, (at + 1) * PER_LINE), at * PER_LINE),
  );
  return (
    <>
      <Text className={classes.words} size="sm" c="dimmed">
        No preview of this kind of file. Download it, or look at its first bytes:
      </Text>
      <pre className={classes.bytes} {...scrolled("First bytes")}>
        {lines.join("\n")}
      </pre>
    </>
  );
}

function lineOf(bytes: Uint8Array, from: number): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const text = Array.from(bytes, (byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : "·"));
  return `${from.toString(16).padStart(4, "0")}  ${hex.padEnd(PER_LINE * 3 - 1)}  ${text.join("")}`;
}
