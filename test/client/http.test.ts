/** Calls over HTTP when requests break off or are refused. The relay here is a script. */
import { expect, test } from "vitest";
import { connectByHttp } from "../../client/connect.ts";
import { Device } from "../../client/device.ts";
import { readEvent } from "../../client/http/read-event.ts";
import { type HttpRequest, HttpTransport } from "../../client/http/transport.ts";
import { callerError, relayError } from "../../shared/errors.ts";
import { CALL_HEADER } from "../../shared/tokens.ts";
import { hurried } from "./hurried.ts";

const CALL = "0197c4a0-7b1e-7c3a-9f2d-3a5b6c7d8e9f";
const DONE = 'event: result\ndata: {"type":"success","output":"done"}\n\n';

/** What the system says of a connection. */
function unreachable(code: string): Error {
  const cause = new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
  return callerError("UNAVAILABLE", `Can't reach the relay: ${code}`, { cause });
}

function events(text: string, headers: Record<string, string> = { [CALL_HEADER]: CALL }): Response {
  return new Response(text, { headers });
}

/** Answers each request by the next step; `sent` is what was asked for. */
function scripted(steps: readonly (Response | Error)[]) {
  const left = [...steps];
  const sent: string[] = [];
  const openResponse = async (path: string, { method = "GET" }: HttpRequest) => {
    sent.push(`${method} ${path}`);
    const step = left.shift();
    if (step === undefined) throw new Error("The script is over");
    if (step instanceof Error) throw step;
    return step;
  };
  const client = { openResponse, send: async () => undefined };
  const device = new Device(new HttpTransport({ client, device: "attic", read: readEvent }));
  return { device, sent };
}

const POST = "POST /v1/devices/attic/tools/Bash";
const GET = `GET /v1/devices/attic/calls/${CALL}`;

test("a relay that is restarted while a call runs is asked until it is back", async () => {
  const { device, sent } = scripted([
    events(": begun\n\n"),
    unreachable("ECONNREFUSED"),
    relayError("UNAVAILABLE", "Starting"),
    events(DONE),
  ]);
  const heard: string[] = [];
  const options = { followsByName: true, onTrouble: ({ why }: { why: string }) => heard.push(why) };
  expect((await hurried(() => device.call("Bash", {}, options))).output).toBe("done");
  expect(sent).toEqual([POST, GET, GET, GET]);
  expect(heard).toEqual(["the answer broke off", "Can't reach the relay: ECONNREFUSED", "Starting"]);
});

test("a record that the relay does not have, or give, is not asked for again", async () => {
  const { device, sent } = scripted([events(""), relayError("NOT_FOUND", "No such call")]);
  const made = hurried(() => device.call("Bash", {}, { followsByName: true }));
  await expect(made).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(sent.length).toBe(2);
});

test("each connection tells the call's name", async () => {
  const { device } = scripted([events(""), events(DONE, {})]);
  const names: string[] = [];
  const options = { followsByName: true, onName: (call: string) => names.push(call) };
  await hurried(() => device.call("Bash", {}, options));
  expect(names).toEqual([CALL, CALL]);
});

test("without a key, a request that broke off may have run; where no connection was made, nothing did", async () => {
  const broken = scripted([unreachable("ECONNRESET"), events(DONE)]);
  const lost = hurried(() => broken.device.call("Bash", {}, { idempotencyKey: null }));
  await expect(lost).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  expect(broken.sent).toEqual([POST]);
  const refused = scripted([unreachable("ECONNREFUSED"), events(DONE)]);
  const made = hurried(() => refused.device.call("Bash", {}, { idempotencyKey: null }));
  expect((await made).output).toBe("done");
  expect(refused.sent).toEqual([POST, POST]);
});

test("each request carries the token as it is then", async () => {
  const tokens = ["first", "second\n"];
  const sent: unknown[] = [];
  const device = connectByHttp({
    ...{ url: "https://relay.example/", device: "attic", token: () => tokens.shift() },
    fetch: async (url, { headers }) => {
      sent.push([url, new Headers(headers).get("Authorization")]);
      return events(DONE);
    },
  });
  await device.call("SystemInfo");
  await device.call("SystemInfo");
  const url = "https://relay.example/v1/devices/attic/tools/SystemInfo";
  expect(sent).toEqual([
    [url, "Bearer first"],
    [url, "Bearer second"],
  ]);
});

test("an address that can't be one is refused at once", () => {
  for (const url of ["relay.example", "ws://relay.example", ""])
    expect(() => connectByHttp({ url, device: "attic" })).toThrow(`"${url}" is no address`);
});
