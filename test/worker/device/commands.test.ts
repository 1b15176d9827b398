/** Commands to a device's program, and the policy that it is told when it changes. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice, pairAgent } from "../helpers/device.ts";
import { home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

async function bareHome(): Promise<{ person: Person; id: string; device: BareDevice }> {
  const person = await Person.signIn();
  const { id, token } = await person.bareDevice();
  return { person, id, device: await BareDevice.register(id, token) };
}

describe("a system command", () => {
  it.each(["restart_client", "shutdown"] as const)("%s of a person reaches the device", async (command) => {
    const { person, id, device } = await bareHome();
    const response = await person.ask(`/v1/devices/${id}/commands`, json({ command, reason: "Update" }));
    expect([response.status, await response.json()]).toEqual([202, { device: id, command }]);
    expect(await device.expect("system_command")).toEqual({
      type: "system_command",
      command,
      reason: "Update",
    });
  });

  it("update_permissions brings what holds, after a sleep too", async () => {
    const { person, id, device } = await bareHome();
    await person.setPolicy(id, { allowed_tools: ["open_app"], rates: { calls_per_minute: 5 } });
    await device.expect("system_command");
    await evictDurableObject(object(id));
    await person.post(`/v1/devices/${id}/commands`, { command: "update_permissions" });
    expect(await device.expect("system_command")).toEqual({
      type: "system_command",
      command: "update_permissions",
      permissions: { allowed_tools: ["open_app"] },
    });
  });

  it("says so when the device is not connected, or the command is none", async () => {
    const { person, id, device } = await bareHome();
    const path = `/v1/devices/${id}/commands`;
    for (const body of [{ command: "reboot" }, {}, { command: "shutdown", force: true }])
      expect((await person.ask(path, json(body))).status).toBe(400);
    device.close();
    await device.closed;
    const response = await person.ask(path, json({ command: "shutdown" }));
    expect([response.status, await response.json()]).toMatchObject([503, { code: "DEVICE_OFFLINE" }]);
  });

  it("takes a person of the account: no token gives one, whatever it may do", async () => {
    const { identity, device, token } = await home();
    const path = `/v1/devices/${identity.id}/commands`;
    const wish = json({ command: "shutdown" });
    expect((await ask(path, json({ command: "shutdown" }, bearer(token)))).status).toBe(403);
    expect((await ask(path, wish)).status).toBe(401);
    expect((await (await Person.signIn()).ask(path, wish)).status).toBe(404);
    expect(device.unread).toBe(0);
  });
});

describe("a policy", () => {
  it("that changes holds at once, and a bare device is told what it may do", async () => {
    const { person, id, device } = await bareHome();
    const { token } = await person.token({ access: "full" });
    const caller = await TestCaller.connect(id, token);
    caller.send({ id: "before", tool: "create_directory", input: { path: "a" } });
    const { tool_call_id } = await device.expect("tool_execute");
    device.send({ type: "tool_result", tool_call_id, success: true, result: { message: "made" } });
    expect(await caller.nextJson()).toMatchObject({ id: "before", type: "success" });

    const policy = { allowed_tools: ["open_app"], allowed_paths: ["/srv"], allowed_apps: [] };
    const put = await person.setPolicy(id, policy);
    expect([put.status, await put.json()]).toEqual([200, policy]);
    expect(await device.expect("system_command")).toMatchObject({
      command: "update_permissions",
      permissions: policy,
    });
    const refused = await caller.call("create_directory", { path: "b" });
    expect(refused).toMatchObject({ code: "PERMISSION_DENIED", hop: "relay" });
    expect(await (await person.ask(`/v1/devices/${id}/policy`)).json()).toEqual(policy);
    expect(device.unread).toBe(0);
  });

  it("that is the same as before is not told again", async () => {
    const { person, id, device } = await bareHome();
    for (const allowed_tools of [["open_app"], ["open_app"], []])
      await person.setPolicy(id, { allowed_tools });
    expect((await device.expect("system_command")).permissions).toEqual({ allowed_tools: ["open_app"] });
    expect((await device.expect("system_command")).permissions).toEqual({ allowed_tools: [] });
  });

  it("that allows a tool which is not there is set, with a warning", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    await AgentDevice.come(identity);
    const policy = { allowed_tools: ["Read", "Raed", "Grep"] };
    const answer = await (await person.setPolicy(identity.id, policy)).json<{ warnings: string[] }>();
    expect(answer).toMatchObject(policy);
    expect(answer.warnings).toHaveLength(1);
    expect(answer.warnings[0]).toContain('no tool "Raed"; did you mean "Read"');
    const right = await person.setPolicy(identity.id, { allowed_tools: ["Read", "Grep"] });
    expect(await right.json()).not.toHaveProperty("warnings");
  });

  it("that is misspelt is refused, and the old one holds", async () => {
    const { person, id, device } = await bareHome();
    await person.setPolicy(id, { allowed_tools: [] });
    await device.expect("system_command");
    expect((await person.setPolicy(id, { alowed_tools: ["open_app"] })).status).toBe(400);
    expect(await (await person.ask(`/v1/devices/${id}/policy`)).json()).toEqual({ allowed_tools: [] });
    expect(device.unread).toBe(0);
  });
});
