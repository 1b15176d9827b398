/** What the account is told of calls while somebody watches. */
import { evictDurableObject } from "cloudflare:test";
import { type ActivityEntry, activityEntrySchema } from "@matrx/shared/activity.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Account } from "../../../worker/account/account.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const WATCHED_FOR = 120_000;

const noted = vi.spyOn(Account.prototype, "noteActivity");
afterEach(() => noted.mockClear());

/** What was told of this device, once there is so much. */
async function told(device: string, count: number): Promise<ActivityEntry[]> {
  const entries = () => noted.mock.calls.filter(([of]) => of === device).flatMap(([, told]) => told);
  await vi.waitFor(() => expect(entries().length).toBeGreaterThanOrEqual(count));
  return entries();
}

async function watchedHome(): Promise<Home> {
  const made = await home();
  expect(await object(made.identity.id).watch(Date.now() + WATCHED_FOR)).toEqual([]);
  return made;
}

describe("while somebody watches", () => {
  it("a call is told when it begins and when it ends, with its holder and without its secrets", async () => {
    const { identity, device, caller } = await watchedHome();
    caller.send({
      id: "1",
      tool: "Bash",
      input: { command: "deploy --token hunter2hunter2", password: "x" },
    });
    const execute = await device.expect("tool_execute");
    const [begun] = await told(identity.id, 1);
    expect(begun).toMatchObject({
      ...{
        type: "started",
        call: execute.tool_call_id,
        device: identity.id,
        tool: "Bash",
        effect: "execute",
      },
      ...{ grant: { name: "test" }, input: { command: "deploy --token [redacted]", password: "[redacted]" } },
    });
    device.answer(execute, "done", { exit: 0, preview: "done" });
    const [, ended] = await told(identity.id, 2);
    expect(ended).toMatchObject({ type: "finished", status: "success", exit: 0, preview: "done" });
    for (const entry of await told(identity.id, 2)) expect(activityEntrySchema.parse(entry)).toEqual(entry);
  });

  it("who begins to watch gets what runs already, even after the object slept", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
    const { tool_call_id: call } = await device.expect("tool_execute");
    const stub = object(identity.id);
    expect(await stub.watch(Date.now() + WATCHED_FOR)).toMatchObject([
      { type: "started", call, tool: "Bash", input: { command: "make" } },
    ]);
    await evictDurableObject(stub);
    expect(await object(identity.id).watch(Date.now() + WATCHED_FOR)).toMatchObject([
      { type: "started", call, tool: "Bash", grant: { name: "test" } },
    ]);
  });

  it("a call that the gate refuses is told as refused", async () => {
    const { identity, person } = await watchedHome();
    const { token } = await person.token({ access: "read" });
    const body = json({ command: "rm -rf /" }, bearer(token));
    expect((await ask(`/v1/devices/${identity.id}/tools/Bash`, body)).status).toBe(403);
    expect(await told(identity.id, 1)).toMatchObject([
      { type: "refused", tool: "Bash", code: "PERMISSION_DENIED", input: { command: "rm -rf /" } },
    ]);
  });

  it("the end of a call that lost its device is told too", async () => {
    const { identity, device, caller } = await watchedHome();
    caller.send({ id: "1", tool: "Read", input: { file_path: "/x" } });
    await device.expect("tool_execute");
    caller.close();
    const [, ended] = await told(identity.id, 2);
    expect(ended).toMatchObject({ type: "finished", status: "cancelled" });
  });
});

it("tells nothing while nobody watches, and another device's calls to nobody", async () => {
  const { device, caller } = await home();
  const watched = await watchedHome();
  caller.send({ id: "1", tool: "Read", input: {} });
  await device.serve("text");
  await caller.nextJson();
  watched.caller.send({ id: "1", tool: "Read", input: {} });
  await watched.device.serve("text");
  const entries = await told(watched.identity.id, 2);
  expect(noted.mock.calls.every(([of]) => of === watched.identity.id)).toBe(true);
  expect(entries.every(({ device: of }) => of === watched.identity.id)).toBe(true);
});
