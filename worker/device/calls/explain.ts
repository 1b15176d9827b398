/** Explains what the relay knows of the decision on a call, without making it. The device decides about paths. */
import { toolNameOf } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type Explanation, explain, withoutPolicysEntries } from "@matrx/shared/policy-explain.ts";
import type { DeviceAttachment } from "../connection.ts";
import { ENFORCES_ALL, type RecordStore } from "../store.ts";
import { requireEnforced } from "./enforcement.ts";
import { unreadablePolicy } from "./gate.ts";

interface Explained {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whose call it would be. */
  readonly grant: GrantScope;
  /** Who is told. */
  readonly asker: GrantScope;
  readonly store: RecordStore;
  /** The device's connection, if there is one. */
  readonly link: Pick<DeviceAttachment, "ours" | "protocol"> | undefined;
}

export function explainCall({ name, input, grant, asker, store, link }: Explained): Explanation {
  const tool = store.toolCalled(name) ?? toolNameOf(name);
  const isOurs = store.record?.identity.kind !== "bare";
  const { policy } = store;
  const explained = explain({ tool, called: name, grant, policy, confinesCommands: isOurs }, input);
  const shown = asker.owner ? explained : withoutPolicysEntries(explained);
  const notes = isOurs ? [AT_THE_DEVICE] : [];
  const known =
    store.manifest && isOurs && !store.toolNamed(tool) ? [`The device has no tool "${name}"`] : [];
  const refusal = store.isPolicyReadable ? notEnforced(tool, input, grant, store, link) : unreadablePolicy();
  const all = { ...shown, notes: [...known, ...notes] };
  if (!refusal || shown.decision === "refused") return all;
  return { ...all, decision: "refused", reason: refusal.message };
}

const AT_THE_DEVICE =
  "The device checks paths, its own policy.json and whether its sandbox works when the call is made";

/** Why the device cannot enforce the limits on this call, if it cannot. */
function notEnforced(
  tool: string,
  input: Explained["input"],
  grant: GrantScope,
  { policy, record }: RecordStore,
  link: Explained["link"],
): MatrxError | undefined {
  const ours = record?.identity.kind !== "bare";
  try {
    requireEnforced(tool, JSON.stringify(input), grant, policy, link ?? { ours, protocol: ENFORCES_ALL });
    return undefined;
  } catch (error) {
    if (error instanceof MatrxError) return error;
    throw error;
  }
}
