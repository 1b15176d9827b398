/** The client in workerd: within the relay, from another object and in the device's own, and over HTTP, as any Worker has it. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { StreamedCalls } from "@matrx/shared/mcp/streamed-calls.ts";
import { describe, expect, it } from "vitest";
import { connectByHttp } from "../../../client/connect.ts";
import { type ApprovalEvent, type CallOptions, Device } from "../../../client/device.ts";
import { ObjectTransport } from "../../../client/object/transport.ts";
import type { CallEvent } from "../../../client/transport.ts";
import type { Caller } from "../../../worker/auth/caller.ts";
import { OwnCalls } from "../../../worker/device/own-calls.ts";
import { DevicePort } from "../../../worker/port/device-port.ts";
import { askedHome, decide } from "../helpers/approvals.ts";
import { AgentDevice, pairAgent } from "../helpers/device.ts";
import { object, sweepAt } from "../helpers/home.ts";
import { Person } from "../helpers/relay.ts";
import { ORIGIN } from "../helpers/request.ts";

interface Who {
  readonly caller: Caller;
  readonly token: string;
}

/** Does something with the device as the client has it. */
type With = <T>(id: string, who: Who, act: (device: Device) => Promise<T>) => Promise<T>;

const fromAnotherObject: With = (id, { caller }, act) =>
  act(new Device(new ObjectTransport(() => new StreamedCalls(new DevicePort(env, caller, id, object(id))))));

const PLACES: [name: string, as: With][] = [
  ["from another object", fromAnotherObject],
  [
    "in the device's own object",
    (id, { caller }, act) =>
      runInDurableObject(object(id), (instance) =>
        act(new Device(new ObjectTransport(() => new OwnCalls(id, instance, caller)))),
      ),
  ],
  [
    "over HTTP, from a Worker",
    (id, { token }, act) => act(connectByHttp({ url: ORIGIN, device: id, token, fetch })),
  ],
];

function fetch(url: string, init: RequestInit): Promise<Response> {
  return exports.default.fetch(new Request(url, init));
}

function whoBy({ account }: Person, grant: string, token: string): Who {
  const caller = { account: account as AccountId, grant: grant as GrantId, expires: Date.now() + 3_600_000 };
  return { caller, token };
}

describe.each(PLACES)("%s", (_, as) => {
  async function home() {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const agent = await AgentDevice.come(identity);
    const { id: grant, token } = await person.token({ access: "full" });
    const who = whoBy(person, grant, token);
    const call = (tool: string, input: Record<string, unknown>, options?: CallOptions) =>
      as(identity.id, who, (device) => device.call(tool, input, options));
    return { identity, agent, who, call };
  }

  it("a call has live output and an answer, in one session", async () => {
    const { identity, agent, who } = await home();
    const told: CallEvent[] = [];
    const names: string[] = [];
    const done = as(identity.id, who, async (device) => {
      const options = {
        onEvent: (event: CallEvent) => told.push(event),
        onName: (name: string) => names.push(name),
      };
      const first = await device.call("Bash", { command: "make" }, options);
      return [first, await device.call("Read", { file_path: "/x" })];
    });
    const bash = await agent.expect("tool_execute");
    agent.output(bash, 0, "all ");
    agent.output(bash, 4, "of it");
    agent.answer(bash, "all of it", {}, { metadata: { exit_code: 0 } });
    const read = await agent.serve("text");
    expect(await done).toMatchObject([
      { type: "success", output: "all of it", metadata: { exit_code: 0 }, device: identity.id },
      { type: "success", output: "text" },
    ]);
    expect(told).toEqual([
      { type: "output", channel: "stdout", offset: 0, data: "all " },
      { type: "output", channel: "stdout", offset: 4, data: "of it" },
    ]);
    expect(names).toEqual([bash.tool_call_id]);
    expect(bash.session).toMatch(/^[\da-f]{16}$/);
    expect(read.session).toBe(bash.session);
  });

  it("an error is thrown with its facts; a refusal is an answer of make", async () => {
    const { identity, agent, who, call } = await home();
    const failed = call("Read", { file_path: "/x" });
    const execute = await agent.expect("tool_execute");
    const error = { code: "NOT_FOUND", hint: "Look", hop: "tool", metadata: { path: "/x" } } as const;
    agent.answer(execute, "/x does not exist", { status: "error", code: "NOT_FOUND" }, error);
    await expect(failed).rejects.toMatchObject({
      ...{ code: "NOT_FOUND", hint: "Look", hop: "tool", details: { path: "/x" } },
    });
    const refused = await as(identity.id, who, (device) => device.make("Raed", {}));
    expect(refused).toMatchObject({ answer: { type: "error", code: "TOOL_NOT_FOUND", hop: "relay" } });
    const nobody = { caller: { ...who.caller, grant: "no-such-grant" as GrantId }, token: "none" };
    const stranger = as(identity.id, nobody, (device) => device.make("Read", {}));
    await expect(stranger).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("the same key is the same call, whose name is told", async () => {
    const { agent, call } = await home();
    const names: string[] = [];
    const options = { idempotencyKey: "once", onName: (name: string) => names.push(name) };
    const [first, execute] = await Promise.all([
      call("Bash", { command: "make" }, options),
      agent.serve("made"),
    ]);
    const second = await call("Bash", { command: "make" }, options);
    expect([first.output, second.output]).toEqual(["made", "made"]);
    expect(names).toEqual([execute.tool_call_id, execute.tool_call_id]);
  });

  it("a stop cancels the call on the device", async () => {
    const { identity, agent, who } = await home();
    const stopped = as(identity.id, who, async (device) => {
      const stop = new AbortController();
      return await device.call(
        "Bash",
        { command: "sleep 60" },
        { signal: stop.signal, onName: () => stop.abort() },
      );
    });
    const execute = await agent.expect("tool_execute");
    await agent.expect("tool_cancel");
    agent.answer(
      execute,
      "Cancelled",
      { status: "cancelled", code: "CANCELLED" },
      { code: "CANCELLED", hop: "agent" },
    );
    await expect(stopped).rejects.toMatchObject({ code: "CANCELLED", hop: "agent" });
  });

  it("a caller that leaves a command comes back to its outcome by its name", async () => {
    const { identity, agent, who } = await home();
    const back = as(identity.id, who, async (device) => {
      const leave = new AbortController();
      const end = await device.make(
        "Bash",
        { command: "make" },
        { leave: leave.signal, onName: () => leave.abort() },
      );
      return end.kind === "left" && end.call ? await device.follow(end.call) : end;
    });
    await agent.serve("made");
    expect(await back).toMatchObject({ type: "success", output: "made" });
  });

  async function asked() {
    const { person, identity, device: agent, grant, token } = await askedHome();
    const questions: ApprovalEvent[] = [];
    const onEvent = (event: CallEvent) => event.type === "approval" && questions.push(event);
    const answer = as(identity.id, whoBy(person, grant, token), (device) =>
      device.call("Write", { file_path: "/x", content: "y" }, { onEvent }),
    );
    answer.catch(() => undefined);
    await agent.prepare();
    await expect.poll(() => questions.map(({ state }) => state)).toEqual(["pending"]);
    return { person, identity, agent, questions, answer };
  }

  it("a question is told, and what a person decides", async () => {
    const { person, identity, agent, questions, answer } = await asked();
    await decide({ person, identity }, questions[0]?.approval ?? "", { decision: "allow" });
    await agent.serve("written");
    expect((await answer).output).toBe("written");
    expect(questions.map(({ state }) => state)).toEqual(["pending", "allowed"]);
  });

  it("a question that nobody answers expires", async () => {
    const { identity, answer } = await asked();
    await sweepAt(identity.id, Date.now() + TIMES.approval + 1000);
    await expect(answer).rejects.toMatchObject({ code: "APPROVAL_EXPIRED", hop: "relay" });
  });
});

it("a read whose device's object is restarted is made again", async () => {
  const person = await Person.signIn();
  const identity = await pairAgent(person);
  const agent = await AgentDevice.come(identity);
  const { id: grant, token } = await person.token({ access: "full" });
  const answer = fromAnotherObject(identity.id, whoBy(person, grant, token), (device) =>
    device.call("Read", { file_path: "/x" }),
  );
  await agent.expect("tool_execute");
  await runInDurableObject(object(identity.id), (_, state) => state.abort("restarted")).catch(
    () => undefined,
  );
  const next = await AgentDevice.come(identity);
  await next.serve("text");
  expect((await answer).output).toBe("text");
});
