/** `mount_changed`: a mounted MCP server is closed, wholly or in part, as it is not what its owner has allowed. */
import type { EventHub } from "../events/hub.ts";
import { Conditions } from "./condition.ts";

const TYPE = "mount_changed";

export class MountChanges {
  readonly #conditions: Conditions;

  /** `servers`: those that are mounted; of others that an earlier run told of, it is over. */
  constructor(hub: Pick<EventHub, "emit" | "openKeys">, servers: readonly string[]) {
    this.#conditions = new Conditions(TYPE, (report) => hub.emit(report), hub.openKeys(TYPE));
    for (const key of this.#conditions.open)
      if (!servers.includes(key)) this.#conditions.clear(key, { message: "It is no longer mounted" });
  }

  /** Tells once that a server is closed, and once that nothing of it is any more. */
  note(server: string, why: string | undefined): void {
    if (why === undefined) return this.#conditions.clear(server, { message: `All of ${server} is open` });
    this.#conditions.raise(server, "warning", {
      message: `The MCP server ${server} is closed: ${why}`,
      hint: `See what changed: matrx mounts. Allow it, on this machine: matrx mounts allow ${server}`,
    });
  }
}
