/** What a person's answer does, and who may give one. */
import type { Question } from "@matrx/shared/question.ts";
import { describe, expect, it } from "vitest";
import {
  type ApprovalFrame,
  type AskedHome,
  approvalOf,
  askedHome,
  askFor,
  decide,
  tokenWith,
  waiting,
} from "../helpers/approvals.ts";
import { pairAgent } from "../helpers/device.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

const ALLOW = { decision: "allow" };

async function served({ device, caller }: AskedHome, id: string): Promise<void> {
  expect(await caller.nextJson()).toMatchObject({ id, type: "approval", state: "allowed" });
  await device.serve("done");
  expect(await caller.nextJson()).toMatchObject({ id, output: "done" });
}

describe("a yes", () => {
  it("for an hour lets the same call pass, and no other", async () => {
    const home = await askedHome();
    const { device, caller } = home;
    const { approval } = await askFor(home, "1");
    expect(await (await decide(home, approval, { ...ALLOW, for: "hour" })).json()).toMatchObject({
      for: "hour",
    });
    await served(home, "1");
    const { binding } = await approvalOf(home, approval);

    caller.send({ id: "2", tool: "Bash", input: { command: "make" } });
    await device.prepare();
    expect(await device.serve("again")).toMatchObject({ id: "2", approval: { id: approval, binding } });
    expect(await caller.nextJson()).toMatchObject({ id: "2", type: "accepted" });
    expect(await caller.nextJson()).toMatchObject({ id: "2", output: "again" });
    await askFor(home, "3", { command: "make install" });
  });

  it("for an hour is the grant's own", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    await decide(home, approval, { ...ALLOW, for: "hour" });
    await served(home, "1");
    const { token } = await tokenWith(home.person);
    const path = `/v1/devices/${home.identity.id}/tools/Bash`;
    const other = ask(path, json({ command: "make" }, bearer(token)));
    await home.device.prepare();
    await expect.poll(() => waiting(home.person)).toHaveLength(1);
    await decide(home, (await waiting(home.person))[0]?.id ?? "", { decision: "deny" });
    expect((await other).status).toBe(403);
  });

  it("for always excepts the tool from what this grant asks about; this call runs once", async () => {
    const home = await askedHome();
    const { device, token, identity } = home;
    const { approval } = await askFor(home, "1");
    expect((await decide(home, approval, { ...ALLOW, for: "always" })).status).toBe(200);
    await served(home, "1");
    const path = (tool: string) => `/v1/devices/${identity.id}/tools/${tool}`;
    const unasked = ask(path("Bash"), json({ command: "anything" }, bearer(token)));
    expect(await device.serve("ran")).not.toHaveProperty("approval");
    expect(await (await unasked).json()).toMatchObject({ output: "ran" });
    void ask(path("Write"), json({}, bearer(token)));
    expect(await device.prepare()).toMatchObject({ tool: "Write" });
  });

  it("for always excepts what else the call was shown to do, by that tool alone", async () => {
    const home = await askedHome();
    const { device, caller, person, grant } = home;
    caller.send({ id: "1", tool: "Write", input: {} });
    const prepare = await device.expect("tool_prepare");
    const question = { summary: "Delete a", tool: "Write", effect: "write", input: "{}", warnings: [] };
    device.prepared(prepare, { question: { ...question, also: ["Delete"] } as Question });
    await caller.nextJson();
    const { approval } = await caller.nextJson<ApprovalFrame>();
    expect(await approvalOf(home, approval)).toMatchObject({ question: { also: ["Delete"] } });
    expect((await decide(home, approval, { ...ALLOW, for: "always" })).status).toBe(200);
    expect(await person.details(grant)).toMatchObject({
      ask: [{ except: ["Write", "Write/Delete"] }],
    });
  });

  it("for always is refused if a policy asks, and the call still waits", async () => {
    const home = await askedHome();
    await home.person.setPolicy(home.identity.id, { ask: [{ tools: ["Bash"] }] });
    const { approval } = await askFor(home, "1");
    const refused = await decide(home, approval, { ...ALLOW, for: "always" });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      hint: expect.stringContaining("`ask` in the device's policy"),
    });
    await decide(home, approval, ALLOW);
    await served(home, "1");
  });

  it("to an edited input runs that input, and says so", async () => {
    const home = await askedHome();
    const { device, caller } = home;
    const { approval } = await askFor(home, "1");
    const before = await approvalOf(home, approval);
    const deciding = decide(home, approval, { ...ALLOW, input: { command: "make check" } });
    expect(await device.prepare()).toMatchObject({ parameters: { command: "make check" } });
    const decided = await (await deciding).json<typeof before>();
    expect(decided).toMatchObject({ edited: true, question: { input: '{"command":"make check"}' } });
    expect(decided.binding).not.toBe(before.binding);
    expect(await caller.nextJson()).toMatchObject({ type: "approval", state: "allowed", edited: true });
    const execute = await device.serve("checked");
    expect(execute).toMatchObject({
      parameters: { command: "make check" },
      approval: { binding: decided.binding },
    });
    expect(await caller.nextJson()).toMatchObject({
      ...{ id: "1", output: "checked" },
      metadata: { approval: { id: approval, edited: true } },
    });
  });

  it("to an input that the device refuses is no yes: the call still waits", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    const deciding = decide(home, approval, { ...ALLOW, input: { comand: "make" } });
    const error = { code: "INVALID_PARAMETERS", message: "Unknown parameter: comand" } as const;
    const prepare = await home.device.expect("tool_prepare");
    expect((await decide(home, approval, ALLOW)).status).toBe(409);
    home.device.prepared(prepare, { ask: false, error });
    expect(await (await deciding).json()).toMatchObject({ status: 400, detail: error.message });
    expect(await approvalOf(home, approval)).toMatchObject({ state: "pending", edited: false });
    await decide(home, approval, ALLOW);
    await served(home, "1");
  });

  it("at the machine is no other's", async () => {
    const home = await askedHome();
    const { device, caller } = home;
    caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
    const { tool_call_id } = await device.prepare({ at: "machine" });
    await caller.nextJson();
    const { approval } = await caller.nextJson<{ approval: string }>();
    expect((await decide(home, approval, ALLOW)).status).toBe(403);
    const { binding } = await approvalOf(home, approval);
    const decided = { type: "approval_decided", tool_call_id, allow: true };
    device.send({ ...decided, binding: "0".repeat(64) });
    device.send({ ...decided, binding });
    await served(home, "1");
    expect(await approvalOf(home, approval)).toMatchObject({ decided_by: "Somebody at the machine" });
  });
});

describe("an attack", () => {
  it.each(["two at once", "a replay"])("by %s runs nothing twice: the first answer counts", async (how) => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    const first = decide(home, approval, ALLOW);
    if (how === "a replay") await first;
    const second = await decide(home, approval, { decision: how === "a replay" ? "allow" : "deny" });
    expect((await first).status).toBe(200);
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({
      decided_by: "A browser",
      detail: "A browser has already allowed this call",
    });
    await served(home, "1");
    expect(home.device.unread).toBe(0);
  });

  it("by the AI itself, an own script token or a stranger decides nothing, and shows nothing", async () => {
    const home = await askedHome();
    const { person, identity, token } = home;
    const { approval } = await askFor(home, "1");
    const script = await person.token({ access: "full" });
    const path = `/v1/devices/${identity.id}/approvals/${approval}`;
    for (const one of [token, script.token]) {
      expect((await ask(path, json(ALLOW, bearer(one)))).status).toBe(403);
      expect((await ask(path, { headers: bearer(one) })).status).toBe(403);
      expect((await ask("/v1/approvals", { headers: bearer(one) })).status).toBe(403);
    }
    const stranger = await Person.signIn();
    expect((await stranger.ask(path, json(ALLOW))).status).toBe(404);
    expect(await waiting(stranger)).toEqual([]);
    const foreign = { ...json(ALLOW), headers: { Cookie: person.cookie, Origin: ORIGIN } };
    expect((await ask(path, foreign)).status).toBe(401);
    expect(await approvalOf(home, approval)).toMatchObject({ state: "pending" });
  });

  it("with another device's approval, or with a made-up one, finds nothing", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    const other = await pairAgent(home.person, "other");
    expect((await decide({ ...home, identity: other }, approval, ALLOW)).status).toBe(404);
    expect((await decide(home, "approval_0000000000000000", ALLOW)).status).toBe(404);
    expect(await approvalOf(home, approval)).toMatchObject({ state: "pending" });
  });

  it("by the device: it can't decide for the person, nor answer a call that was not sent", async () => {
    const home = await askedHome();
    const { device, caller } = home;
    const { approval, call } = await askFor(home, "1");
    const { binding } = await approvalOf(home, approval);
    device.send({ type: "approval_decided", tool_call_id: call, binding, allow: true });
    const parked = {
      type: "tool_execute",
      tool_call_id: call,
      tool: "Bash",
      id: "1",
      parameters: {},
    } as const;
    device.answer({ ...parked, timeout_sec: 1 }, "forged");
    device.output({ ...parked, timeout_sec: 1 }, 0, "forged");
    caller.send({ action: "ping" });
    device.send({ type: "device_heartbeat" });
    await device.expect("heartbeat_ack");
    expect(await caller.nextJson()).toMatchObject({ type: "pong" });
    expect(await approvalOf(home, approval)).toMatchObject({ state: "pending" });
    expect(caller.unread).toBe(0);
  });

  it("with a decision that makes no sense is refused", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    for (const wrong of [
      { decision: "maybe" },
      { decision: "allow", note: "x" },
      { decision: "deny", input: {} },
      { decision: "allow", for: "hour", input: {} },
      { decision: "allow", until: "ever" },
    ])
      expect((await decide(home, approval, wrong)).status).toBe(400);
  });
});
