/** Ends of the account's record that the relay signed, as this machine got them: whoever changes the record later is found out. */
import { appendFileSync } from "node:fs";
import { type SignedHead, signedHeadSchema } from "@matrx/shared/audit.ts";
import * as z from "zod";
import { inPlainWords, readPrivateFile, writePrivateFile } from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";

const keptSchema = signedHeadSchema.extend({ relay: z.string() });
export type KeptHead = z.infer<typeof keptSchema>;

/** How many are kept; the file is shortened when it has twice as many. */
const KEPT = 1000;

export class KeptHeads {
  readonly #path: string;
  #kept: KeptHead[] | undefined;

  constructor({ auditHeadsFile }: Pick<Home, "auditHeadsFile">) {
    this.#path = auditHeadsFile;
  }

  /** Keeps a head, unless it is the last one again. Throws MatrxError if the file cannot be written. */
  keep(relay: string, { account, seq, hash, at, signed }: SignedHead): void {
    this.#kept ??= readKeptHeads(this.#path).heads;
    const last = this.#kept.at(-1);
    if (last && last.hash === hash && last.relay === relay) return;
    const head: KeptHead = { relay, account, seq, hash, at, signed };
    this.#kept.push(head);
    if (this.#kept.length >= 2 * KEPT) this.#shorten();
    else this.#append(head);
  }

  #append(head: KeptHead): void {
    try {
      appendFileSync(this.#path, lineOf(head), { mode: 0o600, flush: true });
    } catch (error) {
      throw inPlainWords(error);
    }
  }

  #shorten(): void {
    this.#kept = this.#kept?.slice(-KEPT) ?? [];
    writePrivateFile(this.#path, this.#kept.map(lineOf).join(""));
  }
}

/** The heads in a file, oldest first, and how many of its lines cannot be read. */
export function readKeptHeads(path: string): { heads: KeptHead[]; unreadable: number } {
  const lines = (readPrivateFile(path) ?? "").split("\n").filter((line) => line !== "");
  const read = lines.map(headIn);
  const heads = read.filter((head) => head !== undefined);
  return { heads, unreadable: lines.length - heads.length };
}

function headIn(line: string): KeptHead | undefined {
  try {
    return keptSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function lineOf(head: KeptHead): string {
  return `${JSON.stringify(head)}\n`;
}
