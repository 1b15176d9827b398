/** What the app does when a machine's stream breaks off, ends, or can't be opened. */
import { expect, test } from "vitest";
import type { Opened } from "../../../client/transport.ts";
import { callerError, type MatrxError, relayError } from "../../../shared/errors.ts";
import { type Away, keepStream } from "../../../web/src/calls/kept-stream.ts";

const LOST = callerError("UNAVAILABLE", "Lost the connection");
const AWAY = relayError("DEVICE_OFFLINE", "The machine is offline");
const DENIED = relayError("APPROVAL_DENIED", "Somebody said no");
const OPENED = { answer: { type: "success", output: "" } } as unknown as Opened;

test("it is opened again where it was, until its end says something", async () => {
  const { kept, inputs, told } = stream([OPENED, AWAY, OPENED]);
  let from = 0;
  const end = await keepStream({
    ...kept,
    input: () => ({ from }),
    take: async () => {
      if (from > 0) return "exited";
      from = 7;
      throw LOST;
    },
  });
  expect(end).toBe("exited");
  expect(inputs).toEqual([{ from: 0 }, { from: 7 }, { from: 7 }]);
  expect(told).toEqual([
    { kind: "connecting" },
    { kind: "reconnecting", isOffline: false, why: "Lost the connection" },
    { kind: "reconnecting", isOffline: true, why: "The machine is offline" },
  ]);
});

test("what a person refused is said, and not asked for again", async () => {
  const { kept, inputs, told } = stream([DENIED, OPENED]);
  expect(await keepStream({ ...kept, take: async () => "never" })).toBeUndefined();
  expect(inputs).toHaveLength(1);
  expect(told.at(-1)).toEqual({ kind: "failed", error: DENIED });
});

test("one that nobody wants any more is not opened again, and nothing is told of it", async () => {
  const leaving = new AbortController();
  const { kept, inputs, told } = stream([OPENED, OPENED]);
  const take = async () => {
    leaving.abort();
    throw LOST;
  };
  expect(await keepStream({ ...kept, signal: leaving.signal, take })).toBeUndefined();
  expect(inputs).toHaveLength(1);
  expect(told).toEqual([{ kind: "connecting" }]);
});

test("a connection that was closed ends the waiting", async () => {
  const { kept, inputs } = stream([LOST, OPENED]);
  const link = { ...kept.link, pause: () => Promise.reject(LOST) };
  expect(await keepStream({ ...kept, link, take: async () => "never" })).toBeUndefined();
  expect(inputs).toHaveLength(1);
});

/** A machine that answers each opening with the next of `answers`, without pauses between them. */
function stream(answers: readonly (Opened | MatrxError)[]) {
  const inputs: unknown[] = [];
  const told: Away[] = [];
  const left = [...answers];
  const link = {
    async open(_tool: string, input: object): Promise<Opened> {
      inputs.push(input);
      const answer = left.shift();
      if (!answer || answer instanceof Error) throw answer;
      return answer;
    },
    pause: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  const onAway = (away: Away) => void told.push(away);
  return { inputs, told, kept: { link, tool: "Watch", input: () => ({}), credit: 32_768, signal, onAway } };
}
