/** Read-only commands of an AI that must ask before it acts: what relay and agent make of a call is the same. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { type ApprovalFrame, askedHome, askFor, decide, tokenWith } from "../helpers/approvals.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const READS = { command: "cat file", read_only: true };

const CLAIMS = [
  '{"read_only":"true"}',
  '{"read_only":1}',
  '{"read_only":null}',
  '{"read_only":[true]}',
  '{"read_only":false}',
  '{"readOnly":true}',
  '{"READ_ONLY":true}',
  '{"read_only":true,"read_only":false}',
  '{"__proto__":{"read_only":true}}',
];

async function rowsOf(id: string): Promise<number> {
  return runInDurableObject(object(id), (_, { storage }) =>
    Number(
      storage.sql.exec("SELECT (SELECT count(*) FROM ledger) + (SELECT count(*) FROM approvals) AS n").one()
        .n,
    ),
  );
}

describe("a read-only command", () => {
  it("is sent at once, without a question, a name in the ledger or a second look by the device", async () => {
    const { device, caller, identity } = await askedHome();
    const answering = caller.call("Bash", READS);
    const execute = await device.serve("content");
    expect(execute).toMatchObject({ tool: "Bash", parameters: READS });
    expect(execute).not.toHaveProperty("input_hash");
    expect(await answering).toMatchObject({ output: "content" });
    expect(await rowsOf(identity.id)).toBe(0);
  });

  it("is none by what only looks like it: the device says whether to ask, over every way in", async () => {
    const { device, caller, token, identity } = await askedHome();
    const none = { ask: false, binding: undefined, question: undefined };
    const headers = { ...bearer(token), "Content-Type": "application/json" };
    for (const input of CLAIMS) {
      caller.send(`{"id":"1","tool":"Bash","input":${input}}`);
      expect((await device.prepare(none)).parameters, input).toEqual(JSON.parse(input));
      expect((await device.serve("done")).parameters, input).toEqual(JSON.parse(input));
      const path = `/v1/devices/${identity.id}/tools/Bash`;
      const made = ask(path, { method: "POST", headers, body: input });
      await device.prepare(none);
      expect((await device.serve("done")).parameters, input).toEqual(JSON.parse(input));
      expect((await made).status).toBe(200);
    }
  });

  it("is none by an address or by a header", async () => {
    const { device, token, identity } = await askedHome();
    const headers = { ...bearer(token), "Mcp-Param-Read_only": "true", "Matrx-Read-Only": "true" };
    const path = `/v1/devices/${identity.id}/tools/Bash?read_only=true`;
    const made = ask(path, json({ command: "ls" }, headers));
    const prepared = await device.prepare({ ask: false, binding: undefined, question: undefined });
    expect(prepared.parameters).toEqual({ command: "ls" });
    expect((await device.serve("done")).parameters).toEqual({ command: "ls" });
    expect((await made).status).toBe(200);
  });

  it("is asked about by a rule that names the tool, and not sent without an answer", async () => {
    const home = await askedHome({
      ...{ owner: false, effects: ["read", "write", "execute"], ask: [{ tools: ["Bash"] }] },
    });
    home.caller.send({ id: "1", tool: "Bash", input: READS });
    await home.device.prepare();
    const { approval } = await home.caller.nextJson<ApprovalFrame>();
    expect(home.device.unread).toBe(0);
    const edited = await decide(home, approval, { decision: "allow", input: { command: "rm file" } });
    expect(edited.status).toBe(400);
    expect(await edited.json()).toMatchObject({ code: "INVALID_PARAMETERS" });
    expect(home.device.unread).toBe(0);

    // Always: for what was shown.
    await decide(home, approval, { decision: "allow", for: "always" });
    expect(await home.caller.nextJson()).toMatchObject({ type: "approval", state: "allowed" });
    await home.device.serve("content");
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "content" });
    const reading = home.caller.call("Bash", READS);
    await home.device.serve("again");
    expect(await reading).toMatchObject({ output: "again" });
    home.caller.send({ id: "3", tool: "Bash", input: { command: "rm file" } });
    expect(await home.device.prepare()).toMatchObject({ parameters: { command: "rm file" } });
  });

  it("may be made one by who decides: then it acts less", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1", { command: "make" });
    const deciding = decide(home, approval, { decision: "allow", input: READS });
    await home.device.prepare();
    expect((await deciding).status).toBe(200);
    expect((await home.device.serve("content")).parameters).toEqual(READS);
  });

  it("is sent again after a broken link, its outcome never unknown", async () => {
    const { device, caller, identity } = await askedHome();
    caller.send({ id: "1", tool: "Bash", input: READS });
    const first = await device.expect("tool_execute");
    device.close();
    await device.closed;
    const back = await AgentDevice.come(identity, { protocol: 2 });
    const again = await back.expect("tool_execute");
    expect(again).toMatchObject({ tool_call_id: first.tool_call_id, parameters: READS });
    back.answer(again, "content");
    expect(await caller.nextJson()).toMatchObject({ id: "1", output: "content" });
  });

  it("is nothing of a bare device's, which may run it as it likes: it is asked about, and recorded", async () => {
    const person = await Person.signIn();
    const bare = await person.bareDevice();
    const device = await BareDevice.register(bare.id, bare.token);
    await person.setPolicy(bare.id, { ask: [{ effects: ["execute"] }] });
    const { token } = await tokenWith(person, { owner: true, effects: ["read", "write", "execute"] });
    const caller = await TestCaller.connect(bare.id, token, { protocol: "matrx.v1" });
    await caller.nextJson();
    caller.send({ id: "1", tool: "Bash", input: READS });
    expect(await caller.nextJson()).toMatchObject({ id: "1", type: "accepted" });
    const { approval } = await caller.nextJson<ApprovalFrame>();
    expect(await rowsOf(bare.id)).toBe(2);
    await decide({ person, identity: { id: bare.id, key: {} as CryptoKey } }, approval, { decision: "deny" });
    expect(await caller.nextJson()).toMatchObject({ id: "1", code: "APPROVAL_DENIED" });
    while (device.unread > 0) expect(await device.nextJson()).not.toMatchObject({ type: "tool_execute" });
  });
});
