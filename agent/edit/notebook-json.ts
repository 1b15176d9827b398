/** Puts new texts into the cells of a notebook's JSON; every byte besides the lines that change stays as it is. */
import { type Node, parseTree } from "jsonc-parser";

/** `texts` by the cells' numbers, from 0. The JSON must be a notebook's. */
export function withSources(json: string, texts: ReadonlyMap<number, string>): string {
  const root = parseTree(json);
  const cells = root && memberOf(root, "cells")?.children;
  let result = "";
  let at = 0;
  for (const [cell, text] of [...texts].sort(([a], [b]) => a - b)) {
    const node = cells?.[cell] && memberOf(cells[cell], "source");
    if (!node) throw new Error("A cell without its text is no cell");
    result += json.slice(at, node.offset) + sourceJson(json, node, text);
    at = endOf(node);
  }
  return result + json.slice(at);
}

/** Of several with one name, the last one counts. */
function memberOf(object: Node, name: string): Node | undefined {
  const property = object.children?.findLast(({ children }) => children?.[0]?.value === name);
  return property?.children?.[1];
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** One string stays one, and a list of lines a list, with its white space. */
function sourceJson(json: string, node: Node, text: string): string {
  const spell = spellingOf(json);
  if (node.type === "string") return spell(text);
  const old = node.children ?? [];
  const lines = text.match(/[^\n]*\n|[^\n]+/g) ?? [];
  if (lines.length === 0) return "[]";
  const isSame = (line: string | undefined, element: Node | undefined) => line === element?.value;
  const most = Math.min(old.length, lines.length);
  let before = 0;
  while (before < most && isSame(lines[before], old[before])) before++;
  let after = 0;
  while (after < most - before && isSame(lines.at(-1 - after), old.at(-1 - after))) after++;
  const { open, between, close } = spacesOf(json, node);
  const kept = old[before - 1];
  const next = after > 0 ? old[old.length - after] : undefined;
  const added = lines.slice(before, lines.length - after).map(spell);
  return [
    kept ? json.slice(node.offset, endOf(kept)) : `[${open}`,
    [...(kept ? [""] : []), ...added, ...(next ? [""] : [])].join(between),
    next ? json.slice(next.offset, endOf(node)) : `${close}]`,
  ].join("");
}

/** Escapes what is not ASCII if the JSON does so throughout. */
function spellingOf(json: string): (text: string) => string {
  const escapes = /\\u(?!00[0-7])/.test(json) && !/[\x80-\uffff]/.test(json);
  if (!escapes) return (text) => JSON.stringify(text);
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return (text) => JSON.stringify(text).replace(/[\x80-\uffff]/g, escaped);
}

interface Spaces {
  readonly open: string;
  /** With the comma. */
  readonly between: string;
  readonly close: string;
}

/** How the elements of a list are set. */
function spacesOf(json: string, node: Node): Spaces {
  const [first, second] = node.children ?? [];
  const last = node.children?.at(-1);
  if (!first || !last) return spacesOfEmpty(json, node);
  const open = json.slice(node.offset + 1, first.offset);
  const between = second ? json.slice(endOf(first), second.offset) : `,${open}`;
  return { open, between, close: json.slice(endOf(last), endOf(node) - 1) };
}

/** An empty list tells nothing: its lines are set one step deeper than its name. */
function spacesOfEmpty(json: string, { parent }: Node): Spaces {
  const name = indentationOf(json, parent);
  if (name === undefined) return { open: "", between: ",", close: "" };
  const object = indentationOf(json, parent?.parent) ?? "";
  const step = name.startsWith(object) ? name.slice(object.length) : "";
  const end = json.includes("\r\n") ? "\r\n" : "\n";
  return { open: end + name + step, between: `,${end}${name}${step}`, close: end + name };
}

/** The white space before it, if it begins a line. */
function indentationOf(json: string, node: Node | undefined): string | undefined {
  if (!node) return undefined;
  const line = json.slice(json.lastIndexOf("\n", node.offset) + 1, node.offset);
  return /^[ \t]*$/.test(line) && line.length < node.offset ? line : undefined;
}
