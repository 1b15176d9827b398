/** Prepares calls for the relay, and tells it what somebody at this machine decided. */
import type { ApprovalDecided, ToolPrepare, ToolPrepared } from "@matrx/shared/device-frames.ts";
import type { Dispatcher } from "../core/dispatcher.ts";
import { isLocalGrant } from "../core/journal-entry.ts";
import type { DecidedCall } from "../core/machine-approvals.ts";
import type { Link } from "./link.ts";

export class Preparations {
  readonly #dispatcher: Dispatcher;
  readonly #unsubscribe: () => void;
  #link: Link | undefined;

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
    this.#unsubscribe = dispatcher.machineApprovals.onDecided((decided) => this.#tell(decided));
  }

  /** A connection is registered: what was decided meanwhile is told, and what the relay may not have got once more. */
  attach(link: Link): void {
    this.#link = link;
    for (const decided of this.#dispatcher.machineApprovals.decided()) this.#tell(decided);
  }

  detach(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  close(): void {
    this.#unsubscribe();
  }

  async prepare({
    tool_call_id: call,
    tool,
    called,
    parameters,
    session,
    grant,
    policy,
  }: ToolPrepare): Promise<void> {
    const request = { call, tool, called, input: parameters, session, grant, relayPolicy: policy };
    const prepared = await this.#dispatcher.prepare(request);
    if (!prepared) return;
    if (!("code" in prepared)) return this.#send({ type: "tool_prepared", tool_call_id: call, ...prepared });
    const { hop: _hop, ...error } = prepared;
    this.#send({ type: "tool_prepared", tool_call_id: call, ask: false, error });
  }

  #tell({ call, binding, grant, decision: { allow, note } }: DecidedCall): void {
    if (isLocalGrant(grant.id)) return;
    const said = note === undefined || allow ? {} : { note };
    this.#send({ type: "approval_decided", tool_call_id: call, binding, allow, ...said });
  }

  /** Without a connection, the relay asks again when there is one. */
  #send(frame: ToolPrepared | ApprovalDecided): void {
    if (this.#link?.isOpen) this.#link.sendText(frame);
  }
}
