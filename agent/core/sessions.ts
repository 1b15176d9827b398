/** Sessions: a caller's working directory, files seen and job cursors. Keyed by grant, so that each belongs to one. */
import { type BigIntStats, statSync } from "node:fs";
import { homedir } from "node:os";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type GrantId, isSessionId, makeSessionId, type SessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { currentPlatform } from "../platform/current.ts";
import { absolutePath } from "../platform/path-syntax.ts";

/** The state of a file when this session last read or wrote it. */
export interface SeenFile {
  readonly stat: Pick<BigIntStats, "ino" | "size" | "mtimeNs">;
  /** Hash of the whole file, in hex; undefined if it was too large to read whole. */
  readonly sha256: string | undefined;
}

/** The part of a job's log that was last shown, in bytes, and the call that showed it. */
export interface Cursor {
  readonly call: string;
  readonly from: number;
  readonly to: number;
}

const MOST_SEEN = 1000;
const MOST_CURSORS = 1000;

export class Session {
  readonly id: SessionId;
  readonly grant: GrantId;
  /** Where it began, and where it returns to if its directory vanishes. */
  readonly start: string;
  cwd: string;
  readonly #seen = new Map<string, SeenFile>();
  readonly #cursors = new Map<string, Cursor>();

  constructor(id: SessionId, grant: GrantId, start: string) {
    this.id = id;
    this.grant = grant;
    this.start = start;
    this.cwd = start;
  }

  /** Notes that this session has seen a file's content; `path` is canonical. */
  noteSeen(path: string, seen: SeenFile): void {
    putBounded(this.#seen, path, seen, MOST_SEEN);
  }

  seen(path: string): SeenFile | undefined {
    return this.#seen.get(path);
  }

  /**
   * The byte offset up to which this session has seen a job's log. A call that runs again because its answer was lost
   * starts where it did the first time.
   */
  cursorOf(job: string, call: string): number {
    const cursor = this.#cursors.get(job);
    if (!cursor) return 0;
    return cursor.call === call ? cursor.from : cursor.to;
  }

  /** Notes what a call showed of a job's log. */
  setCursor(job: string, cursor: Cursor): void {
    putBounded(this.#cursors, job, cursor, MOST_CURSORS);
  }
}

/** Moves an entry to the end, and evicts the least recently used one. */
function putBounded<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}

export interface SessionsOptions {
  /** Where sessions begin; absent: the home folder. */
  readonly workspace?: string | undefined;
  /** How long an unused session is kept, in milliseconds. */
  readonly keptMs?: number;
  readonly mostPerGrant?: number;
  readonly now?: () => number;
}

interface Kept {
  readonly session: Session;
  used: number;
}

export class Sessions {
  readonly #byGrant = new Map<GrantId, Map<SessionId, Kept>>();
  readonly #options: Required<Omit<SessionsOptions, "workspace">> & { workspace: string };

  constructor({
    workspace = homedir(),
    keptMs = TIMES.sessionKept,
    mostPerGrant = 64,
    now = Date.now,
  }: SessionsOptions = {}) {
    this.#options = { workspace, keptMs, mostPerGrant, now };
  }

  /**
   * The grant's session with this id, created if missing; without an id, a new one that is not kept. A new session starts in
   * the first existing folder of the grant, so that relative paths lead somewhere it may go. Throws MatrxError.
   */
  open(id: string | undefined, grant: Pick<GrantScope, "id" | "paths">): Session {
    const { now } = this.#options;
    if (id === undefined) return new Session(makeSessionId(), grant.id, this.#startOf(grant));
    if (!isSessionId(id)) throw badId(id);
    this.#prune();
    const sessions = this.#sessionsOf(grant.id);
    const kept = sessions.get(id) ?? { session: new Session(id, grant.id, this.#startOf(grant)), used: 0 };
    kept.used = now();
    sessions.delete(id);
    sessions.set(id, kept);
    return kept.session;
  }

  #startOf({ paths = [] }: Pick<GrantScope, "paths">): string {
    const platform = currentPlatform();
    const folders = paths.map((folder) => absolutePath(folder, this.#options.workspace, platform));
    return folders.find(isFolder) ?? this.#options.workspace;
  }

  /** Drops all sessions of a grant. */
  endGrant(grant: GrantId): void {
    this.#byGrant.delete(grant);
  }

  get size(): number {
    let size = 0;
    for (const sessions of this.#byGrant.values()) size += sessions.size;
    return size;
  }

  #sessionsOf(grant: GrantId): Map<SessionId, Kept> {
    const sessions = this.#byGrant.get(grant) ?? new Map<SessionId, Kept>();
    this.#byGrant.set(grant, sessions);
    return sessions;
  }

  /** Sessions are ordered by last use. */
  #prune(): void {
    const { keptMs, mostPerGrant, now } = this.#options;
    const oldestKept = now() - keptMs;
    for (const [grant, sessions] of this.#byGrant) {
      for (const [id, { used }] of sessions) {
        if (used >= oldestKept && sessions.size <= mostPerGrant) break;
        sessions.delete(id);
      }
      if (sessions.size === 0) this.#byGrant.delete(grant);
    }
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function badId(id: string): MatrxError {
  return agentError("INVALID_PARAMETERS", `"${id.slice(0, 64)}" is not a session's id`, {
    hint: "Leave it out to work without a session, or ask for a new one",
  });
}
