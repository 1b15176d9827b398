/** How callers name families of tools: `?tools=` of an address, or an option. */
import { expect, it } from "vitest";
import { familiesOf } from "../../../shared/caller/request.ts";
import { FAMILIES } from "../../../shared/tool-families.ts";

const named = (query: string) => familiesOf(new Request(`https://relay.example/mcp${query}`));

it.each([
  ["", undefined],
  ["?format=mcp", undefined],
  ["?tools=files", ["files"]],
  ["?tools=shell,files,shell", ["files", "shell"]],
  ["?tools=files&tools=shell", ["files", "shell"]],
  ["?tools=files,%20shell", ["files", "shell"]],
  ["?tools=all", FAMILIES],
  ["?tools=files,all", FAMILIES],
])("%j is %j", (query, families) => {
  expect(named(query)).toEqual(families);
});

it.each([
  ["?tools=", "tools: names no family: give some of files,"],
  ["?tools", "tools: names no family"],
  ["?tools=files,", "tools: names no family"],
  ["?tools=files&tools=", "tools: names no family"],
  ["?tools=FILES", 'tools: has no family "FILES": give some of files, shell, terminals,'],
  ["?tools=files;shell", 'tools: has no family "files;shell"'],
  ["?tools=constructor", 'tools: has no family "constructor"'],
  ["?tools=files&tools=webcam", 'tools: has no family "webcam"'],
  [`?tools=${"x".repeat(9999)}`, `tools: has no family "${"x".repeat(64)}"`],
])("%j is refused", (query, words) => {
  expect(() => named(query)).toThrow(words);
});
