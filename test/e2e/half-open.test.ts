/**
 * A machine that froze: its link stays open, and nothing answers on it. Here in real time; by a clock of its own, the same is
 * tested in test/worker/link/half-open.test.ts.
 */
import { existsSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { deviceViewSchema } from "../../shared/api.ts";
import { until } from "../helpers/launcher.ts";
import { LONG_ONLY } from "../helpers/long-mode.ts";
import { invoke } from "./caller.ts";
import { fileIn, linesOf, startRig } from "./rig.ts";

it("is not shown as online within 35 seconds, gets no effect, and is called again when it is back", {
  ...LONG_ONLY,
  timeout: 90_000,
}, async () => {
  const rig = await startRig();
  const { pid } = rig.agent.child;
  onTestFinished(async () => {
    process.kill(pid, "SIGCONT");
    await rig.stop();
  });
  const [file, later] = [fileIn(rig), fileIn(rig)];
  const append = (to: string) =>
    invoke(rig.base, rig.token, { tool: "Bash", input: { command: `echo line >> '${to}'` } });
  expect(await append(later)).toMatchObject({ type: "success" });

  process.kill(pid, "SIGSTOP");
  await until("it is not shown as online", async () => !(await rig.isOnline()), 35_000);
  const [effect, read] = await Promise.all([
    append(file),
    invoke(rig.base, rig.token, { tool: "SystemInfo", input: {} }),
  ]);
  expect(effect).toMatchObject({ type: "error", code: "DEVICE_OFFLINE", hop: "relay" });
  expect(read).toMatchObject({ type: "error", code: "DEVICE_OFFLINE", hop: "relay" });

  process.kill(pid, "SIGCONT");
  await until("it is online again", rig.isOnline, 20_000);
  expect(await append(later)).toMatchObject({ type: "success" });
  expect(linesOf(later)).toEqual(["line", "line"]);
  expect(existsSync(file)).toBe(false);
  const view = await rig.relay.request(
    { token: rig.token },
    `GET /v1/devices/${rig.device}`,
    deviceViewSchema,
  );
  expect(view.state).toBe("ONLINE");
});
