/** Conditions that were reported and have not ended: kept in a file, so that a later run of the agent can end them. */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import type { Logger } from "pino";
import * as z from "zod";
import { readJsonFile, writePrivateFile } from "../platform/private-file.ts";

const fileSchema = z.record(z.string(), z.array(z.string()));

export class OpenConditions {
  readonly #path: string;
  readonly #log: Logger;
  readonly #keys: Map<string, Set<string>>;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
    this.#keys = new Map(Object.entries(this.#read()).map(([type, keys]) => [type, new Set(keys)]));
  }

  /** Keys of the open conditions of a type. */
  of(type: string): string[] {
    return [...(this.#keys.get(type) ?? [])];
  }

  /** Notes an event; one without a key is not a condition. */
  note({ event_type, key, resolved }: DeviceEvent): void {
    if (key === undefined) return;
    const keys = this.#keys.get(event_type) ?? new Set();
    if (keys.has(key) !== Boolean(resolved)) return;
    if (resolved) keys.delete(key);
    else keys.add(key);
    this.#keys.set(event_type, keys);
    this.#write();
  }

  #read(): Record<string, string[]> {
    try {
      return readJsonFile(this.#path, fileSchema) ?? {};
    } catch (err) {
      this.#log.warn(
        { err },
        "the list of open conditions is damaged: those of the last run will not be ended",
      );
      return {};
    }
  }

  #write(): void {
    const lists = [...this.#keys].map(([type, keys]) => [type, [...keys]]);
    try {
      writePrivateFile(this.#path, `${JSON.stringify(Object.fromEntries(lists))}\n`);
    } catch (err) {
      this.#log.warn({ err }, "the list of open conditions could not be written");
    }
  }
}
