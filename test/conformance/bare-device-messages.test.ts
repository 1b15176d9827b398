/** Who may be a bare device, and what the relay says to each of its messages. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { problemSchema } from "../../shared/api.ts";
import { invoke } from "../e2e/caller.ts";
import { startRelay } from "../helpers/relay.ts";
import type { BareDevice, Message } from "./bare-device.mjs";
import {
  closeOf,
  deviceState,
  makePlace,
  messageOf,
  newDevice,
  type Place,
  registered,
} from "./bare-place.ts";

let relay: Awaited<ReturnType<typeof startRelay>>;
let token: string;
const newPlace = () => makePlace(relay);
const stateOf = ({ deviceId }: Place) => deviceState(relay, token, deviceId);

beforeAll(async () => {
  relay = await startRelay();
  token = await relay.token();
});
afterAll(() => relay?.stop());

/** Sends a message, then a query, and gives what came before the query's answer. */
async function repliesTo(device: BareDevice, text: string): Promise<Message[]> {
  const before = device.received.length;
  const answered = messageOf(device, "assistant_response");
  device.socket.send(text);
  device.query("Are you there?");
  expect(await answered).toMatchObject({ response: expect.any(String), timestamp: expect.any(String) });
  return device.received.slice(before, -1);
}

it.each([
  ["a wrong token", (): Partial<Place> => ({ token: "not.a.token" })],
  ["a caller's token", (): Partial<Place> => ({ token })],
])("is refused with %s, by an error of the document, and the registered one stays", async (_what, wrong) => {
  const place = await newPlace();
  await registered(place);
  const stranger = newDevice({ ...place, ...wrong() }).connect();
  const closed = closeOf(stranger);
  const error = await messageOf(stranger, "error");
  expect(error).toMatchObject({ error_code: "UNAUTHENTICATED", message: expect.any(String) });
  expect(Date.parse(String(error.timestamp))).not.toBeNaN();
  expect(await closed).toBe(4401);
  const input = { path: "still-here" };
  expect(await invoke(place.base, token, { tool: "create_directory", input })).toMatchObject({
    type: "success",
  });
});

it("is refused under another's id and with another's token", async () => {
  const [mine, other] = [await newPlace(), await newPlace()];
  const byId = newDevice({ ...mine, deviceId: other.deviceId }).connect();
  expect(await messageOf(byId, "error")).toMatchObject({ error_code: "UNKNOWN_DEVICE" });
  const byToken = newDevice({ ...mine, token: other.token }).connect();
  expect(await messageOf(byToken, "error")).toMatchObject({ error_code: "UNAUTHENTICATED" });
  expect(await stateOf(mine)).toBe("UNKNOWN");
});

it("is told what to dial without an id, and that an unknown id is unknown", async () => {
  const { url } = await newPlace();
  const refusal = (address: string) =>
    new Promise<{ status: number | undefined; code: string }>((resolve, reject) => {
      const socket = new WebSocket(address);
      socket.on("error", () => undefined);
      socket.once("open", () => reject(new Error("it was let in")));
      socket.once("unexpected-response", async (_request, response) => {
        const body = Buffer.concat(await response.toArray()).toString();
        resolve({ status: response.statusCode, code: problemSchema.parse(JSON.parse(body)).code });
      });
    });
  const bare = url.replace(/\?.*/, "");
  expect(await refusal(bare)).toEqual({ status: 400, code: "INVALID_PARAMETERS" });
  const unknown = { status: 404, code: "UNKNOWN_DEVICE" };
  expect(await refusal(`${bare}?device=shed-0000000000`)).toEqual(unknown);
});

it("is told UNKNOWN_DEVICE before it registers, and may register then", async () => {
  const place = await newPlace();
  const device = newDevice({ ...place, token: place.token });
  const registering = messageOf(device, "device_registered");
  const refused = messageOf(device, "error");
  device.on("state", (state) => {
    if (state === "CONNECTED") device.event("low_disk_space", "warning", {});
  });
  device.connect();
  expect(await refused).toMatchObject({ error_code: "UNKNOWN_DEVICE" });
  await registering;
});

it("replaces its older connection, which is told so", async () => {
  const place = await newPlace();
  const older = await registered(place);
  const closed = closeOf(older);
  const newer = await registered(place);
  expect(await closed).toBe(4000);
  expect(await stateOf(place)).toBe("ONLINE");
  await invoke(place.base, token, { tool: "create_directory", input: { path: "x" } });
  expect(newer.received.at(-1)).toMatchObject({ type: "tool_execute" });
  expect(older.received.at(-1)).toMatchObject({ type: "device_registered" });
});

const TIME = "2026-02-12T10:30:00Z";
const call = { tool_call_id: "call-abc123" };

it.each([
  [
    "event",
    { event_type: "low_disk_space", severity: "warning", data: { free_gb: 5.2 }, timestamp: TIME },
    [],
  ],
  ["event", { event_type: "door_opened", novel: { deep: [] } }, []],
  ["tool_result", { ...call, success: true, result: {}, executed_at: TIME }, []],
  ["tool_result", { ...call, success: false, error: { code: "MINE", message: "no" }, executed_at: TIME }, []],
  ["device_heartbeat", { timestamp: TIME }, [{ type: "heartbeat_ack" }]],
  ["error", { error_code: "TOOL_EXECUTION_FAILED", message: "It broke", timestamp: TIME }, []],
])("is understood when it sends %s %j", async (type, fields, replies) => {
  const place = await newPlace();
  const device = await registered(place);
  const message = { type, device_id: place.deviceId, ...fields };
  const got = await repliesTo(device, JSON.stringify(message));
  expect(got).toMatchObject(replies);
  expect(got).toHaveLength(replies.length);
});

it("never gets INVALID_MESSAGE for a message of the document, whoever sends it", async () => {
  const device = await registered(await newPlace());
  const backends = [
    "device_registered",
    "heartbeat_ack",
    "tool_execute",
    "assistant_response",
    "llm_request",
  ];
  for (const type of [...backends, "llm_response_chunk", "system_command", "device_register"]) {
    for (const reply of await repliesTo(device, JSON.stringify({ type })))
      expect(reply, type).not.toMatchObject({ error_code: "INVALID_MESSAGE" });
  }
});

it("gets INVALID_MESSAGE for malformed JSON and unknown types, and the connection lives", async () => {
  const device = await registered(await newPlace());
  for (const text of ['{"type":"event"', "", "[]", "null", '{"type":"unheard_of"}', "{}"]) {
    const [error, ...more] = await repliesTo(device, text);
    expect(error, text).toMatchObject({ type: "error", error_code: "INVALID_MESSAGE" });
    expect(more).toEqual([]);
  }
  const [error] = await repliesTo(device, JSON.stringify({ type: "event", event_type: 5 }));
  expect(error).toMatchObject({ error_code: "INVALID_PARAMETERS", details: { field: "event_type" } });
});
