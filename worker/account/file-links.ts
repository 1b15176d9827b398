/** Links to files: each is a grant that may download one path of one device, for whoever knows its secret. */
import type { NewFileLink } from "@matrx/shared/file-link-api.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";
import { grantHappening } from "./record.ts";

/** Where a link leads. */
export interface LinkTarget {
  readonly device: DeviceId;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const NAME_CHARS = 48;

export class FileLinks {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes the grant of a link. `hash`: of its secret, which is not kept. */
  create(
    person: GrantId,
    device: DeviceId,
    { path, hours }: NewFileLink,
    hash: string,
  ): Promise<Outcome<Pick<Grant, "id" | "expires">>> {
    return attempt(() => {
      const { tokens, alarms, record } = this.#context;
      const by = this.#context.person(person);
      this.#context.countCredential();
      const now = Date.now();
      this.#context.prune(now);
      const name = `link to ${path.length > NAME_CHARS ? `...${path.slice(-NAME_CHARS)}` : path}`;
      const grant = tokens.link({ device, path, hash, name, seconds: hours * 60 * 60 }, now);
      alarms.by("expiry", grant.expires);
      record.note(grantHappening(grant, "created"), by);
      return { id: grant.id, expires: grant.expires };
    });
  }

  /** Where the link of this grant leads; undefined if it ended, or has another secret. */
  target(id: GrantId, hash: string): LinkTarget | undefined {
    const grant = this.#context.grants.find(id, Date.now());
    if (grant?.kind !== "link" || grant.token !== hash) return undefined;
    const [device] = grant.devices ?? [];
    const [path] = grant.paths ?? [];
    return device && path ? { device: device as DeviceId, path, expires: grant.expires } : undefined;
  }
}
