/** A device written from the device document alone, against the real relay. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Caller, invoke } from "../e2e/caller.ts";
import { until } from "../helpers/launcher.ts";
import { startRelay } from "../helpers/relay.ts";
import { deviceState, makePlace, messageOf, type Place, registered } from "./bare-place.ts";

const PROGRAM = fileURLToPath(new URL("./bare-device.mjs", import.meta.url));

let relay: Awaited<ReturnType<typeof startRelay>>;
let token: string;
const newPlace = () => makePlace(relay);
const stateOf = ({ deviceId }: Place) => deviceState(relay, token, deviceId);

beforeAll(async () => {
  relay = await startRelay();
  token = await relay.token();
});
afterAll(() => relay?.stop());

it("is UNKNOWN, then ONLINE, then OFFLINE, as a program of its own", async () => {
  const place = await newPlace();
  expect(await stateOf(place)).toBe("UNKNOWN");
  const args = [PROGRAM, place.url, place.deviceId, place.token, place.root];
  const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void program.kill("SIGKILL"));
  const states: unknown[] = [];
  for await (const line of createInterface({ input: program.stdout })) {
    const { state } = JSON.parse(line) as { state?: string };
    if (state) states.push(state);
    if (state === "REGISTERED") break;
  }
  expect(states).toEqual(["CONNECTING", "CONNECTED", "REGISTERING", "REGISTERED"]);
  expect(await stateOf(place)).toBe("ONLINE");
  const made = await invoke(place.base, token, { tool: "create_directory", input: { path: "made" } });
  expect(made).toMatchObject({ status: 200, type: "success", output: "Directory created successfully" });
  expect(existsSync(join(place.root, "made"))).toBe(true);
  program.kill("SIGKILL");
  await until("the device is OFFLINE", async () => (await stateOf(place)) === "OFFLINE");
});

it("gets calls from REST and WebSocket with the fields of the document alone", async () => {
  const place = await newPlace();
  const device = await registered(place);
  expect(device.received[0]).toEqual({
    type: "device_registered",
    device_id: place.deviceId,
    permissions: {},
  });
  const input = { path: "by-rest", more: [1] };
  const rest = await invoke(place.base, token, { tool: "create_directory", input, timeout_ms: 1500 });
  const execute = device.received.at(-1);
  expect(execute).toEqual({
    type: "tool_execute",
    tool_call_id: rest.call,
    tool: "create_directory",
    parameters: input,
    timeout_sec: 2,
  });
  const made = join(place.root, "by-rest");
  expect(rest).toMatchObject({ type: "success", image: null, device: place.deviceId });
  expect(rest.metadata).toEqual({ created_path: made, message: "Directory created successfully" });

  writeFileSync(join(made, "project_alpha.zip"), "");
  using caller = await Caller.open(relay.url, place.deviceId, token);
  const found = await caller.call("1", "search_files", { query: "project_alpha", recursive: true });
  expect(found).toMatchObject({ id: "1", type: "success" });
  expect(found.metadata).toEqual({ matches: [join(made, "project_alpha.zip")] });
  expect(JSON.parse(found.output ?? "")).toEqual(found.metadata);
  expect(await caller.framesOf("1")).toHaveLength(1);
});

it("answers calls side by side, each under its own id", async () => {
  const place = await newPlace();
  const gate = Promise.withResolvers<void>();
  const search_files = async (_root: string, { query }: Record<string, unknown>) => {
    if (query === "slow") await gate.promise;
    return `found ${query}`;
  };
  await registered(place, { tools: { search_files } });
  using caller = await Caller.open(relay.url, place.deviceId, token);
  caller.send({ id: "slow", tool: "search_files", input: { query: "slow" } });
  expect(await caller.call("quick", "search_files", { query: "quick" })).toMatchObject({
    output: "found quick",
  });
  gate.resolve();
  expect(await caller.answer("slow")).toMatchObject({ type: "success", output: "found slow" });
});

it("passes the device's errors on with their codes", async () => {
  const place = await newPlace();
  mkdirSync(join(place.root, "in"));
  await registered(place, { tools: { delete_directory: () => Promise.reject(new Error("it is in use")) } });
  const refusal = async (tool: string, input: Record<string, unknown>) => {
    const { type, code, output, hop } = await invoke(place.base, token, { tool, input });
    return { type, code, output, hop };
  };
  const from = { type: "error", hop: "device" };
  expect(await refusal("create_directory", { path: "/etc/x" })).toEqual({
    ...{ ...from, code: "PERMISSION_DENIED", output: "Access to /etc/x is not allowed" },
  });
  expect(await refusal("create_directory", {})).toMatchObject({ ...from, code: "INVALID_PARAMETERS" });
  expect(await refusal("make_coffee", {})).toMatchObject({ ...from, code: "TOOL_NOT_FOUND" });
  expect(await refusal("delete_directory", { path: "in" })).toMatchObject({
    ...{ ...from, code: "TOOL_EXECUTION_FAILED", output: "it is in use" },
  });
  const problem = await fetch(`${place.base}/tools/create_directory`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ path: "/etc/x" }),
  });
  expect(problem.status).toBe(403);
  expect(await problem.json()).toMatchObject({ code: "PERMISSION_DENIED", hop: "device" });
});

it("is answered TIMEOUT by the device in time, and CANCELLED by the relay at once", async () => {
  const place = await newPlace();
  const never = () => new Promise<never>(() => undefined);
  await registered(place, { tools: { search_files: never, open_app: never } });
  using caller = await Caller.open(relay.url, place.deviceId, token);
  caller.send({ id: "late", tool: "search_files", input: { query: "" }, timeout_ms: 900 });
  caller.send({ id: "gone", tool: "open_app", input: { app: "code" } });
  caller.send({ action: "cancel", id: "gone" });
  expect(await caller.answer("gone")).toMatchObject({ type: "error", code: "CANCELLED" });
  expect(await caller.answer("late")).toMatchObject({ type: "error", code: "TIMEOUT", hop: "device" });
  expect(await caller.framesOf("gone")).toHaveLength(1);
});

it("has its heartbeats acknowledged, on each connection, and too many refused", async () => {
  const place = await newPlace();
  const device = await registered(place);
  device.heartbeat();
  const { timestamp } = await messageOf(device, "heartbeat_ack");
  expect(Math.abs(Date.parse(String(timestamp)) - Date.now())).toBeLessThan(5000);
  device.heartbeat();
  expect(await messageOf(device, "error")).toMatchObject({ error_code: "RATE_LIMITED" });
  expect(await stateOf(place)).toBe("ONLINE");
  device.vanish();
  const again = await registered(place);
  again.heartbeat();
  await messageOf(again, "heartbeat_ack");
});

it("reconnects by itself, and a read that was under way is answered", async () => {
  const place = await newPlace();
  const asked = Promise.withResolvers<void>();
  let times = 0;
  const search_files = (): Promise<unknown> => {
    times++;
    asked.resolve();
    return times === 1 ? new Promise(() => undefined) : Promise.resolve("found");
  };
  const device = await registered(place, { reconnect: true, tools: { search_files } });
  using caller = await Caller.open(relay.url, place.deviceId, token);
  caller.send({ id: "1", tool: "search_files", input: { query: "a" } });
  await asked.promise;
  device.socket.terminate();
  expect(await caller.answer("1")).toMatchObject({ type: "success", output: "found" });
  expect(await caller.framesOf("1")).toHaveLength(1);
  expect(await stateOf(place)).toBe("ONLINE");
});

it("answers after a reconnect what it began before, once, and an effect is not given twice", async () => {
  const place = await newPlace();
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let times = 0;
  const create_directory = async () => {
    times++;
    asked.resolve();
    await gate.promise;
    return { message: "made" };
  };
  const device = await registered(place, { reconnect: true, tools: { create_directory } });
  using caller = await Caller.open(relay.url, place.deviceId, token);
  caller.send({ id: "1", tool: "create_directory", input: { path: "a" } });
  await asked.promise;
  const back = messageOf(device, "device_registered");
  device.socket.terminate();
  await back;
  gate.resolve();
  const answer = await caller.answer("1");
  expect(answer).toMatchObject({ type: "success", output: "made" });
  device.send("tool_result", { tool_call_id: answer.call, success: true, result: { message: "again" } });
  device.query("Are you there?");
  await messageOf(device, "assistant_response");
  expect(await caller.framesOf("1")).toEqual([answer]);
  expect(times).toBe(1);
});
