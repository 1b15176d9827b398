/** The owner of a rig's relay, signed in: makes grants, sees what waits, decides. And an AI that acts by such a grant. */
import { join } from "node:path";
import { expect } from "vitest";
import * as z from "zod";
import { type Credential, request } from "../../scripts/start/owner.ts";
import {
  type ApprovalDetail,
  type ApprovalView,
  approvalDetailSchema,
  approvalListSchema,
} from "../../shared/approval.ts";
import { createdTokenSchema, type newTokenSchema } from "../../shared/token-api.ts";
import { endOf, lineOf, runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { Caller, invoke, type RestAnswer } from "./caller.ts";
import type { Rig } from "./rig.ts";

export interface Reply {
  status: number;
  body: Record<string, unknown>;
}

export interface Ai {
  readonly id: string;
  readonly token: string;
  /** Calls by REST and waits for the answer, however long it takes. */
  call(tool: string, input?: Record<string, unknown>, idempotency_key?: string): Promise<RestAnswer>;
  /** Asks the relay for something else. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** A WebSocket, with this subprotocol. */
  open(subprotocol?: string): Promise<Caller>;
}

/** More than anybody here needs; rates have their own tests. */
const RATES = { messages_per_second: 10_000, calls_per_minute: 100_000 };

export class Person {
  readonly #rig: Rig;
  readonly #credential: Credential;

  private constructor(rig: Rig, credential: Credential) {
    this.#rig = rig;
    this.#credential = credential;
  }

  static async signIn(rig: Rig): Promise<Person> {
    const person = new Person(rig, await rig.relay.signIn());
    await person.setPolicy({});
    return person;
  }

  ask(method: string, path: string, body?: unknown): Promise<Reply> {
    const { url } = this.#rig.relay;
    return askAs(url, { Authorization: `Bearer ${this.#credential.token}` }, method, path, body);
  }

  /** The same, for bodies that are no JSON. */
  fetch(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
    const authorization = { Authorization: `Bearer ${this.#credential.token}` };
    return fetch(this.#rig.relay.url + path, { method, headers: { ...authorization, ...headers } });
  }

  /** The device's policy at the relay. */
  async setPolicy(policy: Record<string, unknown>): Promise<void> {
    const { device } = this.#rig;
    const { status } = await this.ask("PUT", `/v1/devices/${device}/policy`, { rates: RATES, ...policy });
    expect(status).toBe(200);
  }

  /** Makes an AI grant for the rig's device, by default as a person would: it reads in the folder, and asks for the rest. */
  async grant(wish: Partial<z.input<typeof newTokenSchema>> = {}): Promise<Ai> {
    const rig = this.#rig;
    const wanted = { name: "assistant", devices: [rig.device], paths: [rig.folder], ...wish };
    const { id, token } = await request(
      rig.relay,
      this.#credential,
      "POST /v1/tokens",
      createdTokenSchema,
      wanted,
    );
    return {
      ...{ id, token },
      call: (tool, input = {}, idempotency_key) =>
        invoke(rig.base, token, { tool, input, ...(idempotency_key && { idempotency_key }) }),
      ask: (method, path, body) =>
        askAs(rig.relay.url, { Authorization: `Bearer ${token}` }, method, path, body),
      open: (subprotocol) => Caller.open(rig.relay.url, rig.device, token, subprotocol),
    };
  }

  async waiting(): Promise<ApprovalView[]> {
    const { body } = await this.ask("GET", "/v1/approvals");
    return approvalListSchema.parse(body).approvals;
  }

  /** The one question that waits, as soon as there is one. */
  async question(): Promise<ApprovalDetail> {
    await expect.poll(async () => (await this.waiting()).length, { timeout: 10_000 }).toBe(1);
    const [waiting] = await this.waiting();
    const { body } = await this.ask("GET", `/v1/devices/${waiting?.device}/approvals/${waiting?.id}`);
    return approvalDetailSchema.parse(body);
  }

  decide({ device, id }: Pick<ApprovalView, "device" | "id">, decision: object): Promise<Reply> {
    return this.ask("POST", `/v1/devices/${device}/approvals/${id}`, decision);
  }

  /** Waits for the question about a call and answers it; resolves with the call's answer. */
  async answer<Answer>(call: Promise<Answer>, decision: object): Promise<Answer> {
    const { status, body } = await this.decide(await this.question(), decision);
    expect(body).toMatchObject({ state: expect.any(String) });
    expect(status).toBe(200);
    return await call;
  }

  async denyAll(): Promise<void> {
    for (const waiting of await this.waiting()) await this.decide(waiting, { decision: "deny" });
  }

  /** Signs a command line in, with its files in a folder of its own, and returns how to run it. */
  async commandLine(home = join(this.#rig.dataDir, "command line")) {
    const child = startMatrx(["login", "--relay", this.#rig.relay.url, "--json"], { home });
    const ended = endOf(child);
    const { code } = await lineOf(child, ({ status }) => status === "pending");
    await request(this.#rig.relay, this.#credential, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
    expect(await ended).toMatchObject({ code: 0 });
    return async (...args: string[]) => {
      const done = await runMatrx([...args, "--json"], { home });
      return { code: done.code, json: JSON.parse(done.stdout || "null") as Record<string, unknown> };
    };
  }
}

async function askAs(
  url: string,
  credential: Record<string, string>,
  method: string,
  path: string,
  body: unknown,
): Promise<Reply> {
  const response = await fetch(url + path, {
    method,
    headers: { ...credential, ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Reply["body"]) };
}
