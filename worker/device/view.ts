/** What a device looks like from outside; its state is worked out when asked, never kept. */
import type { DeviceView, Proof } from "@matrx/shared/api.ts";
import type { DeviceLink } from "./connection.ts";
import type { DeviceRecord, RecordStore } from "./store.ts";

export interface DeviceViewParts {
  store: RecordStore;
  link: DeviceLink;
  proof: Proof | null;
  /** Open conditions. */
  alerts: number;
}

export function deviceView(
  record: DeviceRecord,
  { store, link, proof, alerts }: DeviceViewParts,
  now: number,
): DeviceView {
  const { introduction, farewell } = store;
  const lastSeen = link.lastSign() ?? farewell?.last_seen;
  return {
    id: record.id,
    name: record.name,
    kind: record.identity.kind,
    state: introduction ? link.state(now) : "UNKNOWN",
    last_seen: lastSeen === undefined ? null : new Date(lastSeen).toISOString(),
    proof: proof ?? farewell?.proof ?? null,
    hostname: introduction?.hostname ?? null,
    os: introduction?.os ?? null,
    os_version: introduction?.os_version ?? null,
    agent_version: introduction?.agent_version ?? null,
    created: new Date(record.created).toISOString(),
    alerts,
    records_lost: store.recordsLost === undefined ? null : new Date(store.recordsLost).toISOString(),
  };
}
