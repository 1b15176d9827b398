/** Searching without ripgrep: slower, with JavaScript's patterns, and files above 16 MiB are left out. */
import { closeSync } from "node:fs";
import { textOfName } from "../paths/names.ts";
import { CheckedFiles } from "./checked-files.ts";
import type { Engine, Hit, Run } from "./engine.ts";
import { FileText } from "./file-text.ts";
import { Matcher } from "./matcher.ts";
import { type Wish, walk } from "./walk.ts";

const LARGEST_FILE = 16 * 1024 * 1024;

export const javascriptEngine: Engine = {
  name: "javascript",
  async *files(_pattern, run) {
    for await (const batch of filesOf(run, { ordered: false })) yield batch;
  },
  async *lines(query, run) {
    const matcher = new Matcher(query, run.signal);
    const checked = new CheckedFiles(run);
    try {
      for await (const batch of filesOf(run, { ordered: true })) {
        for (const path of batch) {
          if (run.signal.aborted) return;
          if (query.include && !query.include.matches(textOfName(path))) continue;
          const hits = await linesOf(path, checked, matcher, run);
          if (hits.length > 0) yield hits;
        }
      }
    } finally {
      await matcher.close();
      await checked.close();
    }
  },
};

async function* filesOf(run: Run, wish: Pick<Wish, "ordered">): AsyncGenerator<Buffer[], void> {
  if (run.scope.file !== undefined) yield [Buffer.from(run.scope.file)];
  else {
    for await (const { above, entries } of walk(run, { ...wish, deep: true })) {
      const prefix = Buffer.from(above);
      yield entries.filter(({ type }) => type === "file").map(({ name }) => Buffer.concat([prefix, name]));
    }
  }
}

async function linesOf(path: Buffer, checked: CheckedFiles, matcher: Matcher, run: Run): Promise<Hit[]> {
  const file = await checked.open(path);
  if (!file) return [];
  let bytes: Buffer | undefined;
  try {
    if (file.stat.size > LARGEST_FILE) run.missed.large++;
    else bytes = FileText.of(file)?.whole();
  } finally {
    closeSync(file.descriptor);
  }
  if (!bytes || bytes.length === 0) return [];
  const found = await matcher.match(bytes);
  return found.map((line) => ({ path, ...line }));
}
