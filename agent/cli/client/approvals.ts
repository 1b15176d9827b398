/** Calls that wait for a person's decision: at the relay, or on this machine alone. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import {
  type ApprovalView,
  approvalDetailSchema,
  approvalListSchema,
  type Decision,
} from "@matrx/shared/approval.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import type { Question } from "@matrx/shared/question.ts";
import type { Home } from "../../config/app-dirs.ts";
import { decidedSchema, type WaitingView, waitingListSchema } from "../../control/approval-routes.ts";
import { ControlClient } from "./control-client.ts";

/** A waiting call in a list. */
export interface Waiting {
  readonly id: string;
  readonly device: string;
  /** Who made the call: the grant's name, or its id. */
  readonly by: string;
  readonly summary: string;
  readonly expires: string;
  /** Decided at the device itself only. */
  readonly atMachine: boolean;
}

export interface WaitingDetail extends Waiting {
  readonly question: Question;
}

export interface ApprovalDesk {
  list(): Promise<Waiting[]>;
  /** By its id, or the beginning of it that only one has. Throws MatrxError. */
  find(id: string): Promise<WaitingDetail>;
  /** Throws MatrxError. */
  decide(waiting: Waiting, decision: Decision): Promise<void>;
}

/** Approvals of all devices, which a signed-in person decides on. */
export function approvalsAtRelay(client: RelayClient): ApprovalDesk {
  const pathTo = ({ device, id }: Waiting) => pathOf("v1", "devices", device, "approvals", id);
  const list = async () =>
    (await client.get("/v1/approvals", approvalListSchema)).approvals.map(waitingAtRelay);
  return {
    list,
    async find(id) {
      const waiting = chosen(await list(), id);
      const { question } = await client.get(pathTo(waiting), approvalDetailSchema);
      return { ...waiting, question };
    },
    async decide(waiting, decision) {
      await client.post(pathTo(waiting), approvalDetailSchema, decision);
    },
  };
}

function waitingAtRelay({ id, device, grant, grant_name, summary, expires, at }: ApprovalView): Waiting {
  return { id, device, by: grant_name ?? grant, summary, expires, atMachine: at === "machine" };
}

/** Approvals of the agents on this machine, which nobody can give from elsewhere. */
export function approvalsHere(home: Home): ApprovalDesk {
  const clients = ControlClient.all(home);
  const all = async () => {
    const answers = await Promise.all(
      clients.map((client) => client.ask("GET", "/approvals", waitingListSchema)),
    );
    const running = answers.filter((answer) => answer !== undefined);
    if (running.length === 0) throw noAgentError();
    return running.flatMap(({ approvals }) => approvals.map(waitingHere));
  };
  return {
    list: all,
    find: async (id) => chosen(await all(), id),
    async decide({ id }, { decision, note }) {
      const body = { allow: decision === "allow", ...(note !== undefined && { note }) };
      const path = pathOf("approvals", id);
      const asked = clients.map((client) =>
        client.ask("POST", path, decidedSchema, body).catch(unlessElsewhere),
      );
      if ((await Promise.all(asked)).every((answer) => answer === undefined)) throw notWaiting(id);
    },
  };
}

function waitingHere({ id, grant, question, expires }: WaitingView): WaitingDetail {
  const by = grant.owner ? `${grant.id} (acts as the owner)` : grant.id;
  return { id, device: "here", by, summary: question.summary, expires, atMachine: true, question };
}

/** The call may wait at the other agent of this machine. */
function unlessElsewhere(error: unknown): undefined {
  if (!(error instanceof MatrxError) || error.code !== "NOT_FOUND") throw error;
}

function chosen<One extends Waiting>(all: readonly One[], id: string): One {
  const found = all.filter((one) => one.id === id || one.id.startsWith(id));
  const [one] = found;
  if (one && found.length === 1) return one;
  throw one
    ? callerError("INVALID_PARAMETERS", `${found.length} approvals begin with "${id}"`, {
        hint: "Give more of the id",
      })
    : notWaiting(id);
}

function notWaiting(id: string): MatrxError {
  return callerError("NOT_FOUND", `No call waits for a decision as "${id}"`, {
    hint: "It may be decided or expired; matrx approvals lists those that wait, matrx approvals --here those of this machine",
  });
}

function noAgentError(): MatrxError {
  return callerError("UNAVAILABLE", "No agent is running on this machine", { hint: "Start it: matrx up" });
}
