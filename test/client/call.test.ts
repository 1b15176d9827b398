/** What becomes of a call when its connection breaks, or the relay wants a rest. The way to the device here is a script. */
import { expect, onTestFinished, test, vi } from "vitest";
import { type CallOptions, Device } from "../../client/device.ts";
import type { Attempt, CallListener, CallRequest, Transport } from "../../client/transport.ts";
import { relayError } from "../../shared/errors.ts";
import { hurried } from "./hurried.ts";

const DONE: Attempt = { kind: "answer", answer: { type: "success", output: "done" } };
const LOST: Attempt = { kind: "lost", why: "the relay restarts", sent: true };
const UNSENT: Attempt = { kind: "lost", why: "nothing listens", sent: false };

type Step = Attempt | Error | ((listener: CallListener) => Attempt | Promise<Attempt>);

/** Answers each attempt by the next step; `requests` is what was sent, `followed` what was asked by its name. */
function scripted(steps: readonly Step[], records: readonly Step[] = [], more: Partial<Transport> = {}) {
  const requests: CallRequest[] = [];
  const followed: string[] = [];
  const next = async (left: Step[], listener: CallListener) => {
    const step = left.shift();
    if (step === undefined) throw new Error("The script is over");
    if (step instanceof Error) throw step;
    return typeof step === "function" ? await step(listener) : step;
  };
  const attempts = [...steps];
  const kept = [...records];
  const transport: Transport = {
    session: undefined,
    attempt: (request, listener) => {
      requests.push(request);
      return next(attempts, listener);
    },
    follow: (call, listener) => {
      followed.push(call);
      return next(kept, listener);
    },
    close: () => undefined,
    ...more,
  };
  return { device: new Device(transport), requests, followed };
}

const named = (step: Attempt) => (listener: CallListener) => {
  listener.onName("call-1");
  return step;
};

test("a read whose connection breaks is made again, and its listener hears of the gap", async () => {
  const { device, requests } = scripted([LOST, DONE]);
  const heard: string[] = [];
  const options: CallOptions = { onEvent: ({ type }) => heard.push(type) };
  const answer = await hurried(() => device.call("Read", { file_path: "/x" }, options));
  expect(answer.output).toBe("done");
  expect(heard).toEqual(["gap"]);
  expect(requests.map(({ idempotencyKey, live }) => [idempotencyKey, live])).toEqual([
    [undefined, true],
    [undefined, true],
  ]);
});

test("what its listener throws is the program's own error, and the call goes on", async () => {
  const uncaught = vi.spyOn(globalThis, "queueMicrotask").mockImplementation(() => undefined);
  onTestFinished(() => uncaught.mockRestore());
  const output = { type: "output", channel: "stdout", offset: 0, data: "line" } as const;
  const { device, requests } = scripted([
    (listener) => {
      listener.onEvent(output);
      return DONE;
    },
  ]);
  const onEvent = () => {
    throw new Error("a fault of the program");
  };
  expect(await device.call("Bash", { command: "make" }, { onEvent })).toMatchObject({ output: "done" });
  expect(requests).toHaveLength(1);
  const [[thrown] = []] = uncaught.mock.calls;
  expect(thrown).toThrow("a fault of the program");
});

test("a call that changes something has a key of its own, by which it is the same call again", async () => {
  const { device, requests } = scripted([LOST, DONE]);
  await hurried(() => device.call("Bash", { command: "make" }));
  expect(requests[0]?.idempotencyKey).toMatch(/^[\da-f-]{36}$/);
  expect(requests[1]?.idempotencyKey).toBe(requests[0]?.idempotencyKey);
});

test("without a key, its outcome is asked for by its name, and it is not sent again", async () => {
  const { device, requests, followed } = scripted([named(LOST)], [LOST, DONE]);
  const answer = await hurried(() => device.call("Bash", {}, { idempotencyKey: null }));
  expect(answer.output).toBe("done");
  expect(requests.length).toBe(1);
  expect(followed).toEqual(["call-1", "call-1"]);
});

test("without a key and a name, its outcome is unknown", async () => {
  const { device, requests } = scripted([LOST, DONE]);
  const made = hurried(() => device.call("Bash", {}, { idempotencyKey: null }));
  await expect(made).rejects.toMatchObject({
    ...{ code: "OUTCOME_UNKNOWN", hop: "caller", hint: "Check what it changed before you run it again" },
  });
  expect(requests.length).toBe(1);
});

test("what was never sent may be sent again, with or without a key; if it stays so, nothing ran", async () => {
  const { device, requests } = scripted([UNSENT, DONE, UNSENT, UNSENT, UNSENT]);
  expect((await hurried(() => device.call("Bash", {}, { idempotencyKey: null }))).output).toBe("done");
  const made = hurried(() => device.call("Bash"));
  await expect(made).rejects.toMatchObject({
    ...{ code: "UNAVAILABLE", message: "Can't reach the relay, so nothing ran: nothing listens" },
  });
  expect(requests.length).toBe(5);
});

test("a message names what could not be reached", async () => {
  const { device } = scripted([UNSENT, UNSENT, UNSENT], [], { host: "the local server" });
  await expect(hurried(() => device.call("Bash"))).rejects.toThrow(
    "Can't reach the local server, so nothing ran: nothing listens",
  );
});

test("a device that is closed here leaves its calls, and takes no others", async () => {
  const { device, requests } = scripted([
    (listener) => {
      listener.onName("call-1");
      return new Promise((resolve) => listener.leave.addEventListener("abort", () => resolve(LOST)));
    },
  ]);
  const call = device.call("Bash", { command: "make" });
  await expect.poll(() => requests.length).toBe(1);
  device.close();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED", details: { call: "call-1" } });
  await expect(device.call("Read")).rejects.toThrow("The device was closed here");
  expect(requests.length).toBe(1);
});

test("a call can't be followed where no records are kept", async () => {
  const { device } = scripted([], [], { follow: undefined });
  await expect(device.follow("call-1")).rejects.toThrow("This connection has no records of calls");
});

test("with a key it ends as unknown once the relay stays away, and says by which key to ask", async () => {
  const { device } = scripted([LOST, UNSENT, UNSENT]);
  const made = hurried(() => device.call("Bash", {}, { idempotencyKey: "build-42" }));
  await expect(made).rejects.toMatchObject({
    code: "OUTCOME_UNKNOWN",
    hint: "To get its outcome, repeat the call with the idempotency key build-42",
    details: { idempotency_key: "build-42" },
  });
});

test("whoever wants it has a call with a key followed by its name too, and hears what stands in the way", async () => {
  const { device, requests, followed } = scripted([UNSENT, named(LOST)], [UNSENT, DONE]);
  const told: string[] = [];
  const options: CallOptions = {
    ...{ followsByName: true, tries: 2 },
    onTrouble: ({ why, next }) => told.push(`${next}: ${why}`),
  };
  expect((await hurried(() => device.call("Bash", {}, options))).output).toBe("done");
  expect(requests.length).toBe(2);
  expect(followed).toEqual(["call-1", "call-1"]);
  expect(told).toEqual(["send: nothing listens", "ask: the relay restarts", "ask: nothing listens"]);
});

test("a read is never followed, and is sent as often as its caller wants", async () => {
  const { device, requests, followed } = scripted([named(LOST), DONE]);
  const made = hurried(() => device.call("Read", {}, { followsByName: true, tries: 1 }));
  await expect(made).rejects.toMatchObject({
    code: "UNAVAILABLE",
    hint: "It only reads, so just run it again",
  });
  expect([requests.length, followed.length]).toEqual([1, 0]);
});

test("a call that is answered with its name is followed to its end", async () => {
  const { device, followed } = scripted([{ kind: "pending", call: "call-2" }], [DONE]);
  expect((await device.call("Bash")).output).toBe("done");
  expect(followed).toEqual(["call-2"]);
});

test("the relay's rate is waited for, whether it is an answer or a refusal, but not for long", async () => {
  const refusal = (ms: number) => relayError("RATE_LIMITED", "Too many", { details: { retry_after_ms: ms } });
  const asAnswer: Attempt = {
    kind: "answer",
    answer: {
      ...{ type: "error", output: "Too many", code: "RATE_LIMITED", hop: "relay" },
      metadata: { retry_after_ms: 2000 },
    },
  };
  const { device, requests } = scripted([refusal(3000), asAnswer, DONE, refusal(3_600_000)]);
  expect((await hurried(() => device.call("Bash"))).output).toBe("done");
  await expect(device.call("Bash")).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(requests.length).toBe(4);
});

test("a caller that leaves is told the call's name, and nothing is sent again", async () => {
  const leave = new AbortController();
  const leaving = named(LOST);
  const { device, requests } = scripted([
    (listener) => {
      leave.abort();
      return leaving(listener);
    },
  ]);
  expect(await device.make("Bash", {}, { leave: leave.signal })).toEqual({ kind: "left", call: "call-1" });
  expect(requests.length).toBe(1);
});

test("a stop before it was sent ran nothing; a stop without an answer says that it may run", async () => {
  const stop = new AbortController();
  const { device } = scripted([
    () => {
      stop.abort();
      return UNSENT;
    },
    LOST,
  ]);
  const signal = stop.signal;
  await expect(device.call("Bash", {}, { signal })).rejects.toMatchObject({
    message: "Cancelled before the call was sent: nothing ran",
  });
  await expect(device.call("Bash", {}, { signal })).rejects.toMatchObject({
    ...{ code: "CANCELLED", message: "Cancelled without an answer; the call may still be running" },
  });
});

test("what a way can't do is refused", async () => {
  const { device } = scripted([]);
  await expect(device.open("Download", {}, { credit: 65_536 })).rejects.toMatchObject({
    ...{ code: "INVALID_PARAMETERS", hop: "caller", message: "This connection has no streams" },
  });
});
