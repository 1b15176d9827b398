/** Visits to ports: each is a grant for one port of one device. Its link's code is exchanged once, for the visit's secret. */
import type { Grant } from "@matrx/shared/grant.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { NewPortLink } from "@matrx/shared/port-link-api.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";
import { grantHappening } from "./record.ts";

/** What a visit is for. */
export interface Visited {
  readonly device: string;
  readonly port: number;
}

/** How long a link's code is valid, in milliseconds. */
const CODE_LASTS = 2 * 60_000;

export class PortLinks {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes the grant of a visit. `codeHash`: of the code in its link, which is not kept. */
  create(
    person: GrantId,
    device: DeviceId,
    { port, minutes }: NewPortLink,
    codeHash: string,
  ): Promise<Outcome<Pick<Grant, "id" | "expires">>> {
    return attempt(() => {
      const { tokens, alarms, record } = this.#context;
      const by = this.#context.person(person);
      this.#context.countCredential();
      const now = Date.now();
      this.#context.prune(now);
      const token = unused(codeHash, now + CODE_LASTS);
      const name = `port ${port} in a browser`;
      const grant = tokens.visit({ device, port, token, name, seconds: minutes * 60 }, now);
      alarms.by("expiry", grant.expires);
      record.note(grantHappening(grant, "created"), by);
      return { id: grant.id, expires: grant.expires };
    });
  }

  /** Exchanges a link's code for a secret with this hash, once. Undefined if the code is wrong, used, too old or for another port. */
  enter(
    id: GrantId,
    codeHash: string,
    visited: Visited,
    secretHash: string,
  ): { expires: number } | undefined {
    const now = Date.now();
    const grant = this.#find(id, visited, now);
    const [until, hash] = grant?.token?.split(" ") ?? [];
    if (!grant || hash !== codeHash || Number(until) <= now) return undefined;
    this.#context.grants.update({ ...grant, token: secretHash });
    return { expires: grant.expires };
  }

  /** Until when the visit with this secret lasts; undefined if it ended, or is for something else. */
  visit(id: GrantId, secretHash: string, visited: Visited): { expires: number } | undefined {
    const grant = this.#find(id, visited, Date.now());
    return grant?.token === secretHash ? { expires: grant.expires } : undefined;
  }

  #find(id: GrantId, { device, port }: Visited, now: number): Grant | undefined {
    const grant = this.#context.grants.find(id, now);
    const isFor = grant?.kind === "link" && grant.devices?.[0] === device && grant.ports?.[0] === port;
    return isFor ? grant : undefined;
  }
}

/** What is kept until the link is opened. No secret has this hash, since a hash has no blank in it. */
function unused(codeHash: string, until: number): string {
  return `${until} ${codeHash}`;
}
