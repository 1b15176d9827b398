/** A call has its name before its outcome: told early, or chosen by its caller; and a grant lists its own. */
import type { CallList } from "@matrx/shared/api.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { EventReader } from "../helpers/events.ts";
import { type Home, home } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

describe("on a socket of matrx.v1", () => {
  it("an effect's name comes before its answer, once its record is there; a read has none", async () => {
    const { identity, device, token } = await home();
    const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
    await caller.nextJson();
    caller.send({ id: "1", tool: "Write", input: {} });
    const execute = await device.expect("tool_execute");
    const call = execute.tool_call_id;
    expect(await caller.nextJson()).toEqual({ id: "1", type: "accepted", call });
    const record = await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: bearer(token) });
    expect(await record.json()).toMatchObject({ call, state: "accepted" });
    device.answer(execute, "written");
    expect(await caller.nextJson()).toMatchObject({ id: "1", type: "success" });
    caller.send({ id: "2", tool: "Read", input: {} });
    await device.serve("read");
    expect(await caller.nextJson()).toMatchObject({ id: "2", type: "success" });
  });

  it("a key's name is that of its call, also when the answer follows at once", async () => {
    const { identity, device, token } = await home();
    const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1.bin" });
    await caller.nextJson();
    const frame = { tool: "Write", input: {}, idempotency_key: "k" };
    caller.send({ id: "1", ...frame });
    const { tool_call_id: call } = await device.serve("written");
    for (const type of ["accepted", "success"]) expect(await caller.nextJson()).toMatchObject({ type, call });
    caller.send({ id: "2", ...frame });
    for (const type of ["accepted", "success"])
      expect(await caller.nextJson()).toMatchObject({ id: "2", type, call });
  });

  it("a refused call has no record, and no name but in its answer", async () => {
    const { identity, device, token } = await home();
    const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
    await caller.nextJson();
    device.close();
    await device.closed;
    caller.send({ id: "1", tool: "Write", input: {} });
    expect(await caller.nextJson()).toMatchObject({ id: "1", type: "error", code: "DEVICE_OFFLINE" });
  });
});

it("a socket that did not opt in gets one frame for a call", async () => {
  const { device, caller } = await home();
  caller.send({ id: "1", tool: "Write", input: {} });
  await device.serve("written");
  expect(await caller.nextJson()).toMatchObject({ id: "1", type: "success" });
});

describe("a name that the caller chose", () => {
  it("is the call's, on every route; its record can be asked for without an answer", async () => {
    const { identity, device, token } = await home();
    const base = `/v1/devices/${identity.id}`;
    for (const [path, body] of [
      ["tools/Write", { file_path: "/a" }],
      ["tools/invoke", { tool: "Write", input: { file_path: "/a" } }],
    ] as const) {
      const call = makeCallId();
      const asking = ask(`${base}/${path}`, json(body, { ...bearer(token), "Matrx-Call": call }));
      const execute = await device.expect("tool_execute");
      expect(execute).toMatchObject({ tool_call_id: call, input_hash: expect.any(String) });
      const record = await ask(`${base}/calls/${call}`, { headers: bearer(token) });
      expect(await record.json()).toMatchObject({ call, state: "accepted" });
      device.answer(execute, "written");
      const response = await asking;
      expect(response.headers.get("Matrx-Call")).toBe(call);
      expect(await response.json()).toMatchObject({ call, output: "written" });
    }
    const call = makeCallId();
    const headers = { ...bearer(token), "Matrx-Call": call, Accept: "text/event-stream" };
    const reader = new EventReader(await ask(`${base}/tools/Write`, json({}, headers)));
    expect((await reader.expect("call")).data).toMatchObject({ call });
    expect((await device.serve("written")).tool_call_id).toBe(call);
    await reader.rest();
  });

  it("is refused when a call has it, whosever that is, and nothing of that call is told", async () => {
    const { identity, person, device, token } = await home();
    const other = await person.token({ access: "full", paths: ["/home"] });
    const path = `/v1/devices/${identity.id}/tools`;
    const call = makeCallId();
    const named = (tool: string, as: string) =>
      ask(`${path}/${tool}`, json({ secret: 1 }, { ...bearer(as), "Matrx-Call": call }));
    const running = named("Write", token);
    const execute = await device.expect("tool_execute");
    const conflicts = async () => {
      for (const [tool, as] of [
        ["Write", token],
        ["Write", other.token],
        ["Read", other.token],
      ] as const) {
        const response = await named(tool, as);
        expect(response.status).toBe(409);
        expect(response.headers.get("Matrx-Call")).toBe(call);
        expect(Object.keys(await response.json<object>()).sort()).toEqual(
          ["type", "title", "status", "detail", "code", "hint", "hop", "call", "device", "output"].sort(),
        );
      }
    };
    await conflicts();
    device.answer(execute, "secret outcome");
    await running;
    await device.expect("result_ack");
    await conflicts();
    expect(device.unread).toBe(0);
  });

  it("of a read under way is taken too", async () => {
    const { identity, device, token } = await home();
    const headers = { ...bearer(token), "Matrx-Call": makeCallId() };
    const read = () => ask(`/v1/devices/${identity.id}/tools/Read`, json({}, headers));
    const first = read();
    const execute = await device.expect("tool_execute");
    expect((await read()).status).toBe(409);
    device.answer(execute, "read");
    expect((await first).status).toBe(200);
  });

  it("gives way to the call of an idempotency key", async () => {
    const { identity, device, token } = await home();
    const send = (call: string) =>
      ask(
        `/v1/devices/${identity.id}/tools/Write`,
        json({}, { ...bearer(token), "Matrx-Call": call, "Idempotency-Key": "k" }),
      );
    const call = makeCallId();
    const first = send(call);
    await device.serve("written");
    await first;
    for (const name of [call, makeCallId()]) {
      const again = await send(name);
      expect([again.status, again.headers.get("Matrx-Call")]).toEqual([200, call]);
    }
  });

  it.each([
    ["no UUID", "abc"],
    ["of version 4", crypto.randomUUID()],
    ["in upper case", makeCallId().toUpperCase()],
    ["with spaces within", makeCallId().replace("-", " ")],
    ["of an hour ago", makeCallId(Date.now() - 3_600_000)],
    ["of the hour to come", makeCallId(Date.now() + 3_600_000)],
    ["of the last day that there is", `ffffffff-ffff-7${makeCallId().slice(15)}`],
    ["twice", `${makeCallId()}, ${makeCallId()}`],
  ])("is refused when it is %s", async (_what, name) => {
    const { identity, token, device } = await home();
    const headers = { ...bearer(token), "Matrx-Call": name };
    const response = await ask(`/v1/devices/${identity.id}/tools/Read`, json({}, headers));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_PARAMETERS", field: "Matrx-Call" });
    expect(device.unread).toBe(0);
  });
});

describe("the list of calls", () => {
  async function list({ identity }: Home, token: string, query = ""): Promise<CallList> {
    return (await ask(`/v1/devices/${identity.id}/calls${query}`, { headers: bearer(token) })).json();
  }

  async function write({ identity, device }: Home, token: string): Promise<string> {
    const asking = ask(
      `/v1/devices/${identity.id}/tools/Write`,
      json({ file_path: "/home/a" }, bearer(token)),
    );
    const { tool_call_id } = await device.serve("written");
    await asking;
    return tool_call_id;
  }

  it("is a grant's own, and the owner's of all; the newest first, without outcomes", async () => {
    const place = await home();
    const guest = await place.person.token({ access: "full", paths: ["/home"] });
    const own = [await write(place, place.token)];
    const guests = [await write(place, guest.token)];
    own.unshift(await write(place, place.token));
    const { device, calls, next } = await list(place, guest.token);
    expect([device, next]).toEqual([place.identity.id, null]);
    expect(calls).toEqual([
      {
        ...{ call: guests[0], device, tool: "Write", state: "finished", status: "success", code: null },
        ...{ outcome_in: "here", created: expect.any(String), deadline: expect.any(String) },
        finished: expect.any(String),
      },
    ]);
    const all = await list(place, place.token);
    expect(all.calls.map(({ call }) => call)).toEqual([own[0], guests[0], own[1]]);
    const stranger = await home();
    const refused = await ask(`/v1/devices/${place.identity.id}/calls`, { headers: bearer(stranger.token) });
    expect(refused.status).toBe(404);
  });

  it("has what is under way, a read too, which can be cancelled by its name", async () => {
    const place = await home();
    const { device, caller, token, identity } = place;
    caller.send({ id: "r", tool: "Read", input: {} });
    caller.send({ id: "w", tool: "Write", input: {} });
    const [read, wrote] = [await device.expect("tool_execute"), await device.expect("tool_execute")];
    const { calls } = await list(place, token, "?state=accepted");
    const both = [
      [wrote.tool_call_id, "Write", "accepted"],
      [read.tool_call_id, "Read", "accepted"],
    ];
    // Names from the same millisecond are in no particular order.
    const newestFirst = both.sort(([a = ""], [b = ""]) => (a < b ? 1 : -1));
    expect(calls.map(({ call, tool, state }) => [call, tool, state])).toEqual(newestFirst);
    const guest = await place.person.token({ access: "read" });
    expect((await list(place, guest.token)).calls).toEqual([]);
    expect((await list(place, token, "?state=finished")).calls).toEqual([]);
    const cancel = `/v1/devices/${identity.id}/calls/${read.tool_call_id}/cancel`;
    expect((await ask(cancel, json({}, bearer(token)))).status).toBe(202);
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: read.tool_call_id });
    device.answer(read, "");
    await caller.nextJson();
    expect((await list(place, token)).calls.map(({ call }) => call)).toEqual([wrote.tool_call_id]);
  });

  it("comes in pages", async () => {
    const place = await home();
    const calls: string[] = [];
    for (let n = 0; n < 5; n++) calls.unshift(await write(place, place.token));
    const first = await list(place, place.token, "?limit=2");
    expect(first.calls.map(({ call }) => call)).toEqual(calls.slice(0, 2));
    expect(first.next).toBe(calls[1]);
    const second = await list(place, place.token, `?limit=2&before=${first.next}`);
    expect(second.calls.map(({ call }) => call)).toEqual(calls.slice(2, 4));
    const last = await list(place, place.token, `?limit=2&before=${second.next}`);
    expect([last.calls.map(({ call }) => call), last.next]).toEqual([calls.slice(4), null]);
  });

  it.each(["?state=lost", "?limit=0", "?limit=1000", "?before=yesterday"])("refuses %s", async (query) => {
    const place = await home();
    const response = await ask(`/v1/devices/${place.identity.id}/calls${query}`, {
      headers: bearer(place.token),
    });
    expect(response.status).toBe(400);
  });
});
