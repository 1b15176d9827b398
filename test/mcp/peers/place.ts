/** A folder that a server may use, a file that it may not see, and how a case says what it expects. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export const SECRET = "the content of a file that nobody may see";

export class Place {
  readonly folder: string;
  readonly secret: string;

  /** A case's own part of `work`, and a file beside that. */
  constructor(work: string) {
    this.folder = mkdtempSync(join(work, "case-"));
    this.secret = join(work, "..", `secret-${basename(this.folder)}.txt`);
    writeFileSync(this.secret, SECRET);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Puts a file there; returns its path. */
  put(name: string, content: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  text(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }
}

/** Throws what was wrong. */
export function check(isRight: boolean, wrong: string): void {
  if (!isRight) throw new Error(wrong);
}

export function checkHas(text: string, ...parts: readonly string[]): void {
  for (const part of parts)
    check(text.includes(part), `${JSON.stringify(part)} is not in ${JSON.stringify(text.slice(0, 200))}`);
}

export function checkSame(found: unknown, wanted: unknown): void {
  const [is, should] = [found, wanted].map((value) => String(JSON.stringify(value)).slice(0, 200));
  check(is === should, `${is} and not ${should}`);
}
