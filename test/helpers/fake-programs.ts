/** Programs of a test's own, on a PATH of its own: shell scripts in a temporary folder. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import { until } from "./launcher.ts";

export class FakePrograms {
  /** Also where they may leave things: a script finds it as `$here`. */
  readonly folder = temporaryFolder();

  add(name: string, script: string): this {
    const file = this.at(name);
    writeFileSync(file, `#!/bin/sh\nhere='${this.folder}'\n${script}\n`);
    chmodSync(file, 0o755);
    return this;
  }

  put(name: string, content: Uint8Array): this {
    writeFileSync(this.at(name), content);
    return this;
  }

  at(name: string): string {
    return join(this.folder, name);
  }

  /** Tells whether a script left this file. */
  has(name: string): boolean {
    return existsSync(this.at(name));
  }

  /** A PATH on which they come first. */
  get path(): string {
    return `${this.folder}:/usr/bin:/bin`;
  }

  /** The text that a script leaves in a file, as soon as its last line is whole. */
  async said(name: string): Promise<string> {
    const text = () => (existsSync(this.at(name)) ? readFileSync(this.at(name), "utf8") : "");
    await until(`${name} is written`, () => text().endsWith("\n"));
    return text();
  }
}
