/** `matrx pause --everywhere` and `matrx calls cancel`: a person at a terminal stops what AI grants do on all devices. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createdTokenSchema } from "../../../shared/token-api.ts";
import { invoke } from "../../e2e/caller.ts";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { confirmed } from "./desk.ts";
import { runMatrx } from "./matrx.ts";

const PATIENCE = { timeout: 90_000 };

let rig: Rig;
let home: string;

beforeAll(async () => {
  rig = await startRig();
}, 90_000);
afterAll(() => rig?.stop());
beforeEach(() => {
  home = temporaryFolder();
});

/** A person at a terminal of their own. */
async function signIn(): Promise<void> {
  expect((await confirmed(rig.relay, home, ["login"])).code).toBe(0);
}

const matrx = (...args: string[]) => runMatrx(args, { home });

test("AI grants are stopped on all devices and refused, until somebody resumes", PATIENCE, async () => {
  await signIn();
  const wish = { name: "assistant", paths: null, effects: ["read"] };
  const owner = await rig.relay.signIn();
  const { token } = await rig.relay.request(owner, "POST /v1/tokens", createdTokenSchema, wish);
  const asAi = () => invoke(rig.base, token, { tool: "SystemInfo", input: {} });
  expect(await asAi()).toMatchObject({ type: "success" });
  const stopped = await matrx("pause", "--everywhere", "--json");
  expect(JSON.parse(stopped.stdout)).toMatchObject({ paused: true, devices: 1, devices_told: 1 });
  expect(await asAi()).toMatchObject({
    ...{ code: "PERMISSION_DENIED", hop: "relay", metadata: { reason: "PAUSED", paused: "ai" } },
    hint: expect.stringContaining("matrx resume --everywhere"),
  });
  expect(await invoke(rig.base, rig.token, { tool: "SystemInfo", input: {} })).toMatchObject({
    type: "success",
  });

  const resumed = await matrx("resume", "--everywhere");
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("AI grants may act again") });
  expect(await asAi()).toMatchObject({ type: "success" });
});

test("calls are cancelled on a device or on all; which, must be said", PATIENCE, async () => {
  await signIn();
  const begun = join(home, "begun");
  const input = { command: `touch '${begun}'; sleep 300` };
  const running = invoke(rig.base, rig.token, { tool: "Bash", input });
  await expect.poll(() => existsSync(begun)).toBe(true);
  expect((await matrx("calls", "cancel")).code).toBe(64);
  expect((await matrx("calls", "cancel", rig.device, "--all")).code).toBe(64);
  const cancelled = await matrx("calls", "cancel", "--all", "--json");
  expect(JSON.parse(cancelled.stdout)).toEqual({ cancelled: 1, devices: 1, unreachable: [] });
  expect(await running).toMatchObject({ code: "CANCELLED" });
  const again = await matrx("calls", "cancel", rig.device);
  expect(again).toMatchObject({ code: 0, stdout: "0 calls were asked to stop.\n" });
});

test(
  "without a login nothing is stopped, and a command that runs for a caller cannot resume",
  PATIENCE,
  async () => {
    const relay = ["--relay", rig.relay.url];
    expect((await runMatrx(["pause", "--everywhere", ...relay], { home })).code).toBe(77);
    await signIn();
    const env = { MATRX_JOB: "job" };
    expect((await runMatrx(["resume", "--everywhere", ...relay], { home, env })).code).toBe(77);
  },
);
