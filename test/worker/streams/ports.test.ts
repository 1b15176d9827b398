/** The relay's part in which ports may be reached: it refuses, and ends streams when its policy lists other ports. */
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import { decodeStreamFrame, resetErrorOf } from "@matrx/shared/streams/frame.ts";
import { expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, TOOLS } from "../helpers/device.ts";
import { type Home, home } from "../helpers/home.ts";

const CREDIT = 64 * 1024;
const CONNECT = {
  name: "ConnectPort",
  description: "Connects",
  effect: "execute",
  input_schema: { type: "object" },
};

/** A device that announces ConnectPort, and an owner's caller with streams. */
async function house(): Promise<Home> {
  const at = await home();
  at.device.send({ type: "manifest", hash: "manifest-2", tools: [...TOOLS, CONNECT] });
  const caller = await TestCaller.connect(at.identity.id, at.token, { protocol: "matrx.v1" });
  await caller.nextJson();
  return { ...at, caller };
}

async function opened({ caller, device }: Home, stream: number, tool: string, input: object) {
  caller.send({ id: `open-${stream}`, tool, input, opens: { stream, credit: CREDIT } });
  const execute: ToolExecute = await device.expect("tool_execute");
  device.answer(execute, "opened");
  for (;;) {
    const { type } = await caller.nextJson<{ type: string }>();
    if (type !== "accepted") return expect(type).toBe("success");
  }
}

it("refuses a port that its policy does not list before the device hears of the call", async () => {
  const at = await house();
  const { person, identity, caller, device } = at;
  await person.setPolicy(identity.id, { allowed_ports: [22, "8000-8099"] });
  await device.expect("system_command");
  for (const input of [{ port: 5432 }, { port: 8100 }, { port: 5432, host: "::1" }]) {
    caller.send({ id: "a", tool: "ConnectPort", input, opens: { stream: 1, credit: CREDIT } });
    expect(await caller.nextJson()).toMatchObject({ id: "a", code: "PERMISSION_DENIED", hop: "relay" });
  }
  await opened(at, 1, "ConnectPort", { port: 8050 });
});

it("ends streams to ports when its policy lists others, and leaves files and other changes alone", async () => {
  const at = await house();
  const { person, identity, caller } = at;
  await opened(at, 1, "ConnectPort", { port: 22 });
  await opened(at, 2, "Read", {});
  expect((await person.setPolicy(identity.id, { denied_tools: ["Bash"] })).status).toBe(200);
  expect((await person.setPolicy(identity.id, { denied_tools: ["Bash"], allowed_ports: [22] })).status).toBe(
    200,
  );
  const frame = decodeStreamFrame(new Uint8Array((await caller.next()) as ArrayBuffer));
  expect([frame.kind, frame.stream]).toEqual(["reset", 1]);
  expect(resetErrorOf(frame)).toMatchObject({ code: "PERMISSION_DENIED", hop: "relay" });
  expect(caller.unread).toBe(0);
});

it("does not tell agents of ports that would not understand it", async () => {
  const { person, identity, token } = await home();
  await person.setPolicy(identity.id, { allowed_ports: [22], denied_tools: ["Write"] });
  for (const [protocol, policy] of [
    [2, { denied_tools: ["Write"] }],
    [3, { allowed_ports: [22], denied_tools: ["Write"] }],
  ] as const) {
    const device = await AgentDevice.come(identity, { protocol });
    const caller = await TestCaller.connect(identity.id, token);
    caller.send({ id: "a", tool: "Read", input: {} });
    const execute = await device.expect("tool_execute");
    expect(execute.policy).toEqual(policy);
    device.answer(execute, "read");
  }
});
