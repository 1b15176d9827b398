/** Chooses the engine: ripgrep if one runs here, else this program itself. */
import { closeSync } from "node:fs";
import type { ToolContext } from "../core/tool.ts";
import { Turns } from "../core/turns.ts";
import { textOfName } from "../text/display-name.ts";
import { CheckedFiles } from "./checked-files.ts";
import type { Engine, Run } from "./engine.ts";
import { FileText } from "./file-text.ts";
import { findRipgrep, type RipgrepPlaces } from "./find-ripgrep.ts";
import { Matcher } from "./matcher.ts";
import { throwUnlessTimedOut } from "./notes.ts";
import { ripgrepEngine } from "./ripgrep.ts";
import { type Wish, walk } from "./walk.ts";

const LARGEST_FILE = 16 * 1024 * 1024;
/** Searches of one caller at once: each takes all of the processors that it gets. */
const AT_ONCE = 4;

const javascriptEngine: Engine = {
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
          const bytes = await bytesOf(path, checked, run);
          if (!bytes || bytes.length === 0) continue;
          for await (const found of matcher.match(bytes)) {
            if (found.length > 0) yield found.map((line) => ({ path, ...line }));
          }
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

/** Undefined if it may not be read, or is not text. */
async function bytesOf(path: Buffer, checked: CheckedFiles, run: Run): Promise<Buffer | undefined> {
  const file = await checked.open(path);
  if (!file) return undefined;
  try {
    if (file.stat.size <= LARGEST_FILE) return FileText.of(file)?.whole();
    run.missed.large++;
    return undefined;
  } finally {
    closeSync(file.descriptor);
  }
}

/** Looks for ripgrep once, on first use. */
export class SearchEngines {
  readonly #places: RipgrepPlaces | undefined;
  readonly #turns = new Turns(AT_ONCE);
  #engine: Promise<Engine> | undefined;

  constructor(places?: RipgrepPlaces) {
    this.#places = places;
  }

  /** Waits until the caller may search, or its time has run out: then it finds nothing. Rejects with another reason of the signal. */
  async turn({ grant, signal }: Pick<ToolContext, "grant" | "signal">): Promise<Disposable> {
    try {
      return await this.#turns.take(grant.id, signal);
    } catch {
      throwUnlessTimedOut(signal);
      return { [Symbol.dispose]: () => undefined };
    }
  }

  best(): Promise<Engine> {
    this.#engine ??= findRipgrep(this.#places).then((ripgrep) =>
      ripgrep ? ripgrepEngine(ripgrep) : javascriptEngine,
    );
    return this.#engine;
  }
}
