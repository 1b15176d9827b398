/** A home where an AI's calls are asked about: its grant, its connection, and the person who decides. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ApprovalDetail, ApprovalView } from "@matrx/shared/approval.ts";
import type { ToolPrepared } from "@matrx/shared/device-frames.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { expect } from "vitest";
import { TestCaller } from "./caller.ts";
import { AgentDevice, type AgentIdentity, pairAgent } from "./device.ts";
import { bearer, json, Person } from "./relay.ts";
import { ask } from "./request.ts";
import { TestSocket } from "./socket.ts";

/** What a caller is told while its call waits. */
export interface ApprovalFrame {
  type: "approval";
  id: string;
  call: string;
  approval: string;
  state: string;
  expires: string;
  summary: string;
  edited: boolean;
}

export interface AskedHome {
  person: Person;
  identity: AgentIdentity;
  device: AgentDevice;
  /** Of the AI grant. */
  token: string;
  grant: string;
  caller: TestCaller;
}

const AI: Partial<GrantScope> = {
  owner: false,
  effects: ["read", "write", "execute"],
  ask: [{ effects: ["write", "execute"] }],
};

/** A token whose grant has these rights, whatever the API would give. */
export async function tokenWith(
  person: Person,
  rights: Partial<GrantScope> = AI,
): Promise<{ token: string; id: string }> {
  const made = await person.token({ access: "read" });
  await setRights(person, made.id, rights);
  return made;
}

/** Without telling any device. */
export async function setRights(person: Person, grant: string, rights: Partial<GrantScope>): Promise<void> {
  await runInDurableObject(env.ACCOUNT.getByName(person.account), (_, { storage }) => {
    storage.sql.exec("UPDATE grants SET may = ? WHERE id = ?", JSON.stringify(rights), grant);
  });
}

export async function askedHome(rights: Partial<GrantScope> = AI): Promise<AskedHome> {
  const person = await Person.signIn();
  const identity = await pairAgent(person);
  const device = await AgentDevice.come(identity, { protocol: 2 });
  const { token, id: grant } = await tokenWith(person, rights);
  const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
  await caller.nextJson();
  return { person, identity, device, token, grant, caller };
}

/** Sends a call on the AI's socket; a person is asked about it. */
export async function askFor(
  { caller, device }: Pick<AskedHome, "caller" | "device">,
  id: string,
  input: unknown = { command: "make" },
  more: Record<string, unknown> = {},
  facts: Partial<ToolPrepared> = {},
): Promise<ApprovalFrame> {
  caller.send({ id, tool: "Bash", input, ...more });
  await device.prepare(facts);
  expect(await caller.nextJson()).toMatchObject({ id, type: "accepted" });
  const frame = await caller.nextJson<ApprovalFrame>();
  expect(frame).toMatchObject({ id, type: "approval", state: "pending" });
  return frame;
}

/** A decision, as the page sends it. */
export function decide(
  { person, identity }: Pick<AskedHome, "person" | "identity">,
  approval: string,
  decision: unknown,
): Promise<Response> {
  return person.ask(`/v1/devices/${identity.id}/approvals/${approval}`, json(decision));
}

export async function approvalOf(
  { person, identity }: Pick<AskedHome, "person" | "identity">,
  approval: string,
): Promise<ApprovalDetail> {
  return (await person.ask(`/v1/devices/${identity.id}/approvals/${approval}`)).json();
}

/** What waits, as the account lists it. */
export async function waiting(person: Person): Promise<ApprovalView[]> {
  const { approvals } = await (await person.ask("/v1/approvals")).json<{ approvals: ApprovalView[] }>();
  return approvals;
}

export async function recordOf(
  { identity, token }: Pick<AskedHome, "identity" | "token">,
  call: string,
): Promise<Record<string, unknown>> {
  return (await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: bearer(token) })).json();
}

/** A person's open screen. */
export class TestScreen extends TestSocket {
  static async open(headers: Record<string, string>): Promise<TestScreen> {
    const [ws, answered] = await TestSocket.upgrade("/v1/account/ws", headers);
    return new TestScreen(ws, answered);
  }

  /** The next news of an approval. */
  async news(): Promise<ApprovalView> {
    const frame = await this.nextJson<{ type: string; approval: ApprovalView }>();
    expect(frame.type).toBe("approval");
    return frame.approval;
  }
}
