/** An account's files in the cloud store: what is there, for how long, and how much may be. */
import type { CloudFile } from "@matrx/shared/cloud-file-api.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type GrantId, randomBase32 } from "@matrx/shared/ids.ts";
import { cloudStore } from "../cloud/open-store.ts";
import { logWarning } from "../log.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError } from "../refusals.ts";
import { ARRIVES_WITHIN, type CloudFileRow, dropCloudFiles } from "./cloud-file-rows.ts";
import type { AccountContext } from "./context.ts";

const FILES_MAX = 1000;
const BYTES_MAX = 10 * 1024 ** 3;
const DAY = 24 * 60 * 60 * 1000;

/** What is known of a file before its bytes have arrived. */
export interface ArrivingFile extends Pick<CloudFile, "name" | "device" | "path" | "media_type" | "size"> {
  readonly days: number;
}

export class CloudFiles {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes room for a file that is about to arrive; returns its id. */
  begin(person: GrantId, { days, size, ...facts }: ArrivingFile): Promise<Outcome<string>> {
    return attempt(() => {
      this.#context.person(person);
      cloudStore(this.#context.env);
      const now = Date.now();
      if (this.#count >= FILES_MAX) throw tooManyError("files in the cloud store", FILES_MAX);
      this.#requireRoom(size ?? 0);
      const id = `cloud_${randomBase32(16)}`;
      this.#context.sql.exec(
        "INSERT INTO cloud_files (id, state, size, arrived, heard, created, expires, facts) VALUES (?, 'arriving', ?, 0, ?, ?, ?, ?)",
        ...[id, size, now, now, now + days * DAY, JSON.stringify(facts)],
      );
      this.#context.alarms.by("cloud", now + ARRIVES_WITHIN);
      return id;
    });
  }

  /** Notes how much of it has arrived. */
  arrived(person: GrantId, id: string, arrived: number): Promise<Outcome<void>> {
    return attempt(() => {
      this.#context.person(person);
      const row = this.#row(id);
      if (row?.state !== "arriving") throw noSuchFile();
      if (row.size === null) this.#requireRoom(arrived - row.arrived);
      const set = "UPDATE cloud_files SET arrived = ?, heard = ? WHERE id = ?";
      this.#context.sql.exec(set, arrived, Date.now(), id);
    });
  }

  /** All of it is stored. */
  finish(
    person: GrantId,
    id: string,
    { size, sha256 }: { size: number; sha256: string },
  ): Promise<Outcome<CloudFile>> {
    return attempt(() => {
      this.#context.person(person);
      const row = this.#row(id);
      if (row?.state !== "arriving") throw noSuchFile();
      if (row.size === null) this.#requireRoom(size - row.arrived);
      const set =
        "UPDATE cloud_files SET state = 'stored', size = ?1, arrived = ?1, sha256 = ?2 WHERE id = ?3";
      this.#context.sql.exec(set, size, sha256, id);
      return viewOf({ ...row, state: "stored", size, arrived: size, sha256 });
    });
  }

  /** Its transfer is over, and it did not arrive; it may have been removed before. */
  drop(id: string): Promise<void> {
    this.#context.sql.exec("UPDATE cloud_files SET heard = 0 WHERE id = ? AND state <> 'stored'", id);
    return this.#removeRows([id]);
  }

  list(person: GrantId): Promise<Outcome<{ files: CloudFile[]; bytes: number; max_bytes: number }>> {
    return attempt(() => {
      this.#context.person(person);
      const rows = this.#rows().sort((a, b) => b.created - a.created);
      return { files: rows.map(viewOf), bytes: taken(rows), max_bytes: this.#max };
    });
  }

  /** One that has arrived. */
  find(person: GrantId, id: string): Promise<Outcome<CloudFile>> {
    return attempt(() => {
      this.#context.person(person);
      const row = this.#row(id);
      if (row?.state !== "stored") throw noSuchFile();
      return viewOf(row);
    });
  }

  /** It is gone at once; its bytes go now, or by the alarm if the store can't be reached. */
  remove(person: GrantId, id: string): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#context.person(person);
      if (!this.#row(id)) throw noSuchFile();
      await this.#removeRows([id]);
    });
  }

  /** The account was closed. */
  async removeAll(): Promise<void> {
    await this.#removeRows(this.#rows().map(({ id }) => id));
  }

  async #removeRows(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#context.sql.exec("UPDATE cloud_files SET state = 'removed' WHERE id = ?", id);
    // Set before the first attempt, which may fail with this object.
    if (ids.length > 0) this.#context.alarms.by("cloud", Date.now());
    await dropCloudFiles(this.#context, Date.now()).catch((error: unknown) =>
      logWarning("bytes of removed cloud files are left", error),
    );
  }

  #requireRoom(more: number): void {
    const bytes = taken(this.#rows());
    if (bytes + more > this.#max) throw fullError(bytes, this.#max);
  }

  get #max(): number {
    const max = Number(this.#context.env.CLOUD_BYTES ?? "");
    return Number.isSafeInteger(max) && max > 0 ? max : BYTES_MAX;
  }

  /** Those whose transfer is not over are among them, although they were removed. */
  get #count(): number {
    const query = "SELECT COUNT(*) AS files FROM cloud_files WHERE expires > ?";
    return this.#context.sql.exec<{ files: number }>(query, Date.now()).one().files;
  }

  /** None that expired a moment ago. */
  #rows(): CloudFileRow[] {
    const query = "SELECT * FROM cloud_files WHERE state <> 'removed' AND expires > ?";
    return this.#context.sql.exec<CloudFileRow>(query, Date.now()).toArray();
  }

  #row(id: string): CloudFileRow | undefined {
    return this.#rows().find((row) => row.id === id);
  }
}

function taken(rows: readonly CloudFileRow[]): number {
  return rows.reduce((sum, { size, arrived }) => sum + (size ?? arrived), 0);
}

function viewOf({ id, state, size, arrived, sha256, created, expires, facts }: CloudFileRow): CloudFile {
  return {
    ...(JSON.parse(facts) as Pick<CloudFile, "name" | "device" | "path" | "media_type">),
    ...{ id, state: state === "stored" ? "stored" : "arriving", size, arrived, sha256 },
    ...{ created: new Date(created).toISOString(), expires: new Date(expires).toISOString() },
  };
}

function noSuchFile(): MatrxError {
  return relayError("NOT_FOUND", "There is no such file in the cloud store", {
    hint: "It may have expired; GET /v1/cloud-files lists what is there",
  });
}

function fullError(bytes: number, max: number): MatrxError {
  return relayError("PAYLOAD_TOO_LARGE", "The account's cloud store has no room for it", {
    hint: "Remove files that are no longer needed: DELETE /v1/cloud-files/ID",
    details: { bytes, max_bytes: max },
  });
}
