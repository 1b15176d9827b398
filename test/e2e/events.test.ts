/** What a machine reports by itself, all the way: `matrx up --serve` at a real relay, a full drive, a new file, a page of a browser. */
import { once } from "node:events";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import * as z from "zod";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { findPort } from "../../scripts/start/port.ts";
import { type EventView, eventListSchema, eventViewSchema } from "../../shared/api.ts";
import { mountDrive } from "../helpers/drive.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { NEEDS_ROOT } from "../helpers/parts.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { startRig } from "./rig.ts";
import { upAndServe } from "./up-and-serve.ts";

const frameSchema = z.looseObject({ type: z.string(), event: eventViewSchema.optional() });

/** Events of a device as they reach a caller's socket at the relay; each is waited for once, in any order. */
async function listen(relay: TestRelay, device: string, token: string) {
  const socket = new WebSocket(`${relay.url.replace("http", "ws")}/v1/devices/${device}/ws`, ["matrx.v1"], {
    headers: { Authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  const events: EventView[] = [];
  let look = () => {};
  socket.on("message", (data) => {
    const { type, event } = frameSchema.parse(JSON.parse(String(data)));
    if (type !== "event" || !event) return;
    events.push(event);
    look();
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ action: "events" }));
  return (type: string, fits: (event: EventView) => boolean = () => true) =>
    new Promise<EventView>((resolve) => {
      look = () => {
        const place = events.findIndex((event) => event.event_type === type && fits(event));
        const [event] = place < 0 ? [] : events.splice(place, 1);
        if (event) resolve(event);
      };
      look();
    });
}

test("a full drive, a service that is down, a new file and a browser are told at the relay, and what is over", {
  timeout: 90_000,
  ...NEEDS_ROOT,
}, async () => {
  const drive = mountDrive();
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const token = await relay.token();
  const { device_id: device } = await ensurePaired(
    relay,
    token,
    new AbortController().signal,
    () => undefined,
  );
  const home = join(relay.dataDir, "agent");
  const inbox = join(realpathSync(temporaryFolder()), "inbox");
  mkdirSync(inbox);
  const { port } = await findPort(0);
  const monitors = {
    new_file_detected: { folders: [{ path: inbox }] },
    service_down: { services: [{ name: "wiki", host: "127.0.0.1", port }], failures: 1 },
  };
  const config = join(home, "config.json");
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), monitors }));
  writeFileSync(join(drive, "big"), Buffer.alloc(15 * 1024 * 1024));

  const event = await listen(relay, device, token);
  const first = await upAndServe(home);
  expect(await event("low_disk_space", ({ key }) => key === drive)).toMatchObject({
    ...{ severity: "warning", open: true, resolved: false, dropped: 0 },
    data: { drive, free_gb: 0.001, total_gb: 0.016, percentage_free: expect.any(Number) },
  });
  expect(await event("service_down")).toMatchObject({
    ...{ key: "wiki", severity: "critical", open: true },
    data: { service: "wiki", address: `127.0.0.1:${port}`, reason: expect.stringContaining("ECONNREFUSED") },
  });

  const headers = { Authorization: `Bearer ${first.token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ event_type: "tab_opened", url: "https://a.example" });
  const triggered = await (await fetch(`${first.url}/trigger`, { method: "POST", headers, body })).json();
  expect(triggered).toMatchObject({ relay: "connected" });
  expect(await event("tab_opened")).toMatchObject({ data: { url: "https://a.example" } });

  writeFileSync(join(inbox, "scan.pdf"), "x");
  expect(await event("new_file_detected")).toMatchObject({
    ...{ severity: "info", key: null },
    data: { folder: inbox, count: 1, files: [{ path: "scan.pdf", change: "added" }] },
  });
  const local = eventListSchema.parse(await (await fetch(`${first.url}/events`, { headers })).json());
  const there = await relay.request({ token }, `GET /v1/devices/${device}/events`, eventListSchema);
  const facts = ({ id, event_type, data, open }: EventView) => ({ id, event_type, data, open });
  expect(there.events.map(facts)).toEqual(expect.arrayContaining(local.events.map(facts)));

  await first.stop();
  rmSync(join(drive, "big"));
  const second = await upAndServe(home);
  expect(await event("low_disk_space", ({ key }) => key === drive)).toMatchObject({
    ...{ resolved: true, open: false },
    data: { percentage_free: 100 },
  });
  await second.stop();
});

test("an event that a broken line swallowed arrives over the next one, and one that came through is not told twice", {
  timeout: 60_000,
}, async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  await rig.agent.child.stop(5000);
  const { url, token, stop } = await upAndServe(join(rig.dataDir, "agent"));
  onTestFinished(stop);
  const report = async (event_type: string) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    await fetch(`${url}/trigger`, { method: "POST", headers, body: JSON.stringify({ event_type }) });
  };
  const atRelay = async () => {
    const { events } = await rig.relay.request(
      { token: rig.token },
      `GET /v1/devices/${rig.device}/events`,
      eventListSchema,
    );
    return events.map(({ event_type }) => event_type).filter((type) => ["first", "second"].includes(type));
  };
  await report("first");
  await expect.poll(atRelay).toEqual(["first"]);
  rig.line.hold("up");
  await report("second");
  await expect.poll(() => rig.line.held("up")).toBeGreaterThan(0);
  expect(await atRelay()).toEqual(["first"]);
  rig.line.cut();
  await expect.poll(atRelay).toEqual(["first", "second"]);
});
