/** Events from a report to the relay's socket, over links that come and go; and conditions over restarts. */
import { existsSync, writeFileSync } from "node:fs";
import { eventSchema } from "@matrx/shared/events.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { homeOf } from "../../../agent/config/app-dirs.ts";
import { EventHub } from "../../../agent/events/hub.ts";
import { OpenConditions } from "../../../agent/events/open-conditions.ts";
import { Outbox } from "../../../agent/events/outbox.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog } from "../core/small-tools.ts";
import { startScriptedRelay } from "../relay/scripted-relay.ts";
import { DEVICE, startAgent } from "../relay/start-agent.ts";

const down = { type: "service_down", severity: "critical", key: "wiki", data: { service: "wiki" } } as const;
const up = { ...down, severity: "info", resolved: true } as const;

function connectedHub() {
  return new EventHub({ device: DEVICE, outbox: new Outbox(performance.now()) });
}

test("an event reaches the relay in the device document's form; one that came before the link, too", async () => {
  const relay = await startScriptedRelay();
  const events = connectedHub();
  events.emit({
    type: "low_disk_space",
    severity: "warning",
    key: "C:",
    data: { drive: "C:", free_gb: 5.2 },
  });
  expect(events.relay).toBe("waiting");
  startAgent(relay.url, { events });
  const device = await relay.connection();
  await device.register();
  const frame = eventSchema.parse(await device.texts.next());
  expect(frame).toEqual({
    type: "event",
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    device_id: DEVICE,
    event_type: "low_disk_space",
    severity: "warning",
    key: "C:",
    data: { drive: "C:", free_gb: 5.2 },
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
  expect(events.relay).toBe("connected");
  events.emit(down);
  expect(await device.texts.next()).toMatchObject({ event_type: "service_down", key: "wiki" });
});

test("what a link took down with it comes again over the next one, and then what waited", async () => {
  const relay = await startScriptedRelay();
  const events = connectedHub();
  startAgent(relay.url, { events });
  const first = await relay.connection();
  await first.register();
  events.emit(down);
  const sent = await first.texts.next();
  first.socket.terminate();
  const second = await relay.connection();
  events.emit(up);
  await second.register();
  expect(await second.texts.next()).toEqual(sent);
  expect(await second.texts.next()).toMatchObject({ key: "wiki", resolved: true });
});

test("who reports faster than events leave is told that they wait", () => {
  const hub = connectedHub();
  const sent: object[] = [];
  hub.attach({ sendText: (frame) => void sent.push(frame) });
  const standings = Array.from({ length: 12 }, (_, n) => {
    hub.emit({ type: "trigger", severity: "info", data: { n } });
    return hub.relay;
  });
  expect(standings).toEqual([...Array(10).fill("connected"), "waiting", "waiting"]);
  expect(sent).toHaveLength(10);
  expect(hub.close()).toEqual({ waiting: 2, dropped: 0 });
});

test("without a relay the last hundred are kept", () => {
  const hub = new EventHub({ device: "box" });
  for (let n = 0; n < 150; n++) hub.emit({ type: "trigger", severity: "info", data: { n } });
  expect(hub.recent().map(({ data }) => data?.n)).toEqual(Array.from({ length: 100 }, (_, n) => n + 50));
  expect(hub.relay).toBe("none");
});

test("what is joined while it waits is one event here, too", () => {
  const hub = connectedHub();
  hub.emit({ ...down, data: { failures: 3 } });
  hub.emit({ ...down, data: { failures: 4 } });
  expect(hub.recent()).toMatchObject([{ data: { failures: 4 } }]);
  expect(hub.close()).toEqual({ waiting: 1, dropped: 0 });
});

test("a clock that is set back makes no end older than its beginning", () => {
  onTestFinished(() => void vi.useRealTimers());
  const hub = new EventHub({ device: "box" });
  vi.useFakeTimers({ now: 2_000_000, toFake: ["Date"] });
  const begin = hub.emit(down);
  vi.setSystemTime(1_000_000);
  expect((hub.emit(up).id ?? "") >= (begin.id ?? "~").slice(0, 13)).toBe(true);
});

test("open conditions outlive the program; a damaged list is none", () => {
  const { conditionsFile } = homeOf({ MATRX_HOME: temporaryFolder() });
  const first = new EventHub({ device: "box", conditions: new OpenConditions(conditionsFile, silentLog) });
  first.emit({ type: "trigger", severity: "info", data: {} });
  expect(existsSync(conditionsFile)).toBe(false);
  first.emit(down);
  first.emit({ ...down, key: "nas" });
  first.emit({ ...up, key: "nas" });
  const second = () =>
    new EventHub({ device: "box", conditions: new OpenConditions(conditionsFile, silentLog) });
  expect(second().openKeys("service_down")).toEqual(["wiki"]);
  second().emit(up);
  expect(second().openKeys("service_down")).toEqual([]);
  writeFileSync(conditionsFile, "{");
  expect(second().openKeys("service_down")).toEqual([]);
});
