/**
 * The protected set: what belongs to Matrx itself (agent configuration and state, relay data, credentials) is closed to
 * all tools, read and write, whatever the policy; and nothing on the way to it may be replaced.
 */
import { type BigIntStats, realpathSync, statSync } from "node:fs";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { canonicalOf } from "./canonical.ts";
import { identityOf, linkedFilesIn } from "./linked-files.ts";
import { isWithin } from "./spelling.ts";
import { wayOf } from "./way.ts";

export class ProtectedSet {
  readonly #platform: Platform;
  /** As configured and as they really are, both. */
  readonly #paths: ReadonlySet<string>;
  /** Links on the way there. */
  readonly #links: ReadonlySet<string>;
  /** Device and inode: a bind mount or a hard link is another way to the same place. */
  readonly #identities: ReadonlySet<string>;
  /** Of files inside that have other names too; looked up when such a file is met. */
  #linked: ReadonlySet<string> | undefined;

  private constructor(
    platform: Platform,
    paths: ReadonlySet<string>,
    links: ReadonlySet<string>,
    identities: ReadonlySet<string>,
  ) {
    this.#platform = platform;
    this.#paths = paths;
    this.#links = links;
    this.#identities = identities;
  }

  /**
   * As things stand now: links may have changed since the last time. Without a thread of the pool, as the agent's journal
   * beside them is written.
   */
  static async lookUp(configured: readonly string[], platform: Platform): Promise<ProtectedSet> {
    const paths = new Set(configured);
    const links = new Set<string>();
    const identities = new Set<string>();
    for (const path of configured) {
      for (const { place, isLink } of wayOf(path, platform)) if (isLink) links.add(place);
      try {
        paths.add(realpathSync.native(path));
        identities.add(identityOf(statSync(path, { bigint: true })));
      } catch {
        // It is not there yet: what is made later is where its path leads now.
        const canonical = await canonicalOf(path, platform).catch(() => undefined);
        if (canonical) paths.add(canonical.path);
      }
    }
    return new ProtectedSet(platform, paths, links, identities);
  }

  /** Throws MatrxError `PERMISSION_DENIED`. */
  check(canonical: string, shown: string, { replaces }: { replaces: boolean }): void {
    if (this.#platform.isProcessInside(canonical)) throw insideProcess(shown);
    for (const path of this.#paths) {
      if (isWithin(canonical, path, this.#platform)) throw closed(shown);
    }
    if (!replaces) return;
    for (const path of [...this.#paths, ...this.#links]) {
      if (isWithin(path, canonical, this.#platform)) throw leadsToClosed(shown);
    }
  }

  inside(folder: string): string[] {
    return [...this.#paths].filter((path) => isWithin(path, folder, this.#platform));
  }

  /** Throws MatrxError `PERMISSION_DENIED` when this very directory or file is protected, under whatever name. */
  inspect(found: BigIntStats, shown: string): void {
    const identity = identityOf(found);
    if (this.#identities.has(identity)) throw closed(shown);
    if (!found.isFile() || found.nlink < 2n) return;
    this.#linked ??= linkedFilesIn(this.#paths);
    if (this.#linked.has(identity)) throw closed(shown);
  }
}

const OWN_HINT = "Use the matrx command on the device itself";

function closed(path: string): MatrxError {
  return denied(path, `${path} belongs to Matrx itself and is closed to all tools`, OWN_HINT);
}

function leadsToClosed(path: string): MatrxError {
  const message = `${path} leads to one of Matrx's own folders and can't be replaced`;
  return denied(path, message, OWN_HINT);
}

function insideProcess(path: string): MatrxError {
  return denied(
    path,
    `${path} shows the inside of a process and is closed to file tools`,
    "Use Bash with ps",
  );
}

function denied(path: string, message: string, hint: string): MatrxError {
  return new MatrxError({ code: "PERMISSION_DENIED", message, hint, hop: "tool", details: { path } });
}
