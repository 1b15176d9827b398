/** All cases through each server, each case in a folder of its own. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import type { Case } from "./case.ts";
import { COMMAND_CASES, MISUSE_CASES } from "./command-cases.ts";
import { BORDER_CASES, READ_CASES, WRITE_CASES } from "./file-cases.ts";
import { Lacks, Peer, type PeerProgram } from "./peer.ts";
import { Place } from "./place.ts";

export const CASES: readonly Case[] = [
  ...READ_CASES,
  ...WRITE_CASES,
  ...BORDER_CASES,
  ...COMMAND_CASES,
  ...MISUSE_CASES,
];

/** `lacks`: the server has no tool for that. */
export type Outcome = { readonly is: "passes" | "lacks" } | { readonly is: "fails"; readonly why: string };

/** A program's server, on a folder that is removed with it. */
export class Contestant implements AsyncDisposable {
  readonly name: string;
  readonly #program: PeerProgram;
  readonly #root: string;
  #peer: Peer;

  private constructor(program: PeerProgram, peer: Peer, root: string) {
    this.name = program.name;
    this.#program = program;
    this.#peer = peer;
    this.#root = root;
  }

  static async start(program: PeerProgram): Promise<Contestant> {
    const root = makeFolder();
    for (const folder of [workIn(root), homeIn(root)]) mkdirSync(folder);
    return new Contestant(program, await Peer.start(program, workIn(root), homeIn(root)), root);
  }

  async judge({ run }: Case): Promise<Outcome> {
    try {
      // As a client does: a server that is gone fails one case, not all that follow.
      if (this.#peer.isClosed)
        this.#peer = await Peer.start(this.#program, workIn(this.#root), homeIn(this.#root));
      await run(this.#peer, new Place(workIn(this.#root)));
      return { is: "passes" };
    } catch (error) {
      if (error instanceof Lacks) return { is: "lacks" };
      return { is: "fails", why: error instanceof Error ? error.message : String(error) };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#peer[Symbol.asyncDispose]();
    removeFolder(this.#root);
  }
}

function workIn(root: string): string {
  return join(root, "work");
}

function homeIn(root: string): string {
  return join(root, "home");
}

/** A row for each case, a column for each server. */
export function table(programs: readonly string[], rows: ReadonlyMap<string, readonly Outcome[]>): string {
  const mark = { passes: "yes", lacks: "-", fails: "no" };
  const lines = [...rows].map(([name, outcomes]) => [name, ...outcomes.map(({ is }) => mark[is])]);
  const sum = (column: number) => {
    const all = [...rows.values()].map((outcomes) => outcomes[column]?.is);
    return `${all.filter((is) => is === "passes").length} of ${all.length}`;
  };
  const total = ["**Passes**", ...programs.map((_, column) => `**${sum(column)}**`)];
  const head = ["", ...programs];
  return [head, head.map(() => "---"), ...lines, total].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
