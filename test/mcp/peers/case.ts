/** One thing that is asked of every server. */
import type { Peer } from "./peer.ts";
import type { Place } from "./place.ts";

export interface Case {
  readonly name: string;
  /** Rejects with what was wrong. */
  run(peer: Peer, place: Place): Promise<void>;
}
