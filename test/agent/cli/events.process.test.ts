/** What a device reports, as the command line shows it: a bare device at the real relay. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createdDeviceSchema } from "../../../shared/api.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { startRelay } from "../../helpers/relay.ts";
import { runMatrx, startMatrx } from "./matrx.ts";

const EVENT = { type: "event", severity: "warning", data: { drive: "C:", free_gb: 5.2 } };

/** A device that is registered, and a command line that may read. */
async function reporting() {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const { device, token } = await relay.request(
    await relay.signIn(),
    "POST /v1/devices",
    createdDeviceSchema,
    { name: "shed" },
  );
  const socket = new WebSocket(`${relay.url.replace("http", "ws")}/v1/device/ws?device=${device.id}`);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.send(
    JSON.stringify({ type: "device_register", device_id: device.id, auth_token: `Bearer ${token}` }),
  );
  await once(socket, "message");
  const home = temporaryFolder();
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, await relay.token("read"), { mode: 0o600 });
  const report = (event: object) => socket.send(JSON.stringify({ ...EVENT, ...event }));
  return { home, report, options: ["--relay", relay.url, "--token-file", tokenFile] };
}

test("events are listed and followed, open ones alone if wanted", { timeout: 60_000 }, async () => {
  const { home, report, options } = await reporting();
  const none = await runMatrx(["events", "shed", ...options], { home });
  expect(none).toMatchObject({ code: 0, stdout: "Nothing to report.\n" });

  const following = startMatrx(["events", "shed", "-f", "--json", ...options], { home });
  const lines = createInterface({ input: following.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  report({ event_type: "low_disk_space", key: "C:" });
  expect(await next()).toMatchObject({ event_type: "low_disk_space", key: "C:", open: true });
  report({ event_type: "door\u001b[2J\nbell", data: {} });
  expect(await next()).toMatchObject({ event_type: "door\u001b[2J\nbell", open: false });

  const { stdout } = await runMatrx(["events", "shed", ...options], { home });
  expect(stdout).toMatch(/warning {2}low_disk_space {2}C: {2}open\n {2}drive="C:" free_gb=5\.2\n/);
  expect(stdout).toMatch(/door\ufffd\[2J bell\n/);
  const open = await runMatrx(["events", "shed", "--open", "--json", ...options], { home });
  expect(JSON.parse(open.stdout).events).toHaveLength(1);

  const ended = once(following, "exit");
  following.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test("who may not read them is told so, also when following", { timeout: 60_000 }, async () => {
  const { home, options } = await reporting();
  const wrong = join(home, "wrong");
  writeFileSync(wrong, "not.a.token", { mode: 0o600 });
  const refused = await runMatrx(["events", "shed", "-f", ...options.slice(0, 2), "--token-file", wrong], {
    home,
  });
  expect(refused.code).toBe(77);
});
