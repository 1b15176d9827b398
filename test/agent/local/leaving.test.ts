/** REST callers of the local server that go before they have their answer, or take their time to read it. */
import { expect, test, vi } from "vitest";
import { json, serve } from "./serve.ts";

const BYTES = 9_000_000;
const whole = "x".repeat(BYTES);

/** A call that its caller leaves once it runs; its outcome. */
async function left(path: string, body: object, headers: Record<string, string> = {}) {
  const { url, calls, runs } = await serve();
  const started = vi.spyOn(calls, "start");
  const leaving = new AbortController();
  const init = { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) };
  const answering = fetch(url + path, { ...init, signal: leaving.signal }).then((response) =>
    response.text(),
  );
  answering.catch(() => undefined);
  await expect.poll(() => runs.size).toBe(1);
  leaving.abort();
  await expect(answering).rejects.toThrow();
  const outcome = await started.mock.results[0]?.value.outcome;
  return outcome.header.status;
}

const EVENTS = { Accept: "text/event-stream" };
const SLEEP = { command: "sleep", ms: 300 };

test.each([
  ["a read", "/tools/Grep", {}, {}, "cancelled"],
  ["a read on the guide's route", "/tools/invoke", { tool: "Grep" }, {}, "cancelled"],
  ["a read told as events", "/tools/Grep", {}, EVENTS, "cancelled"],
  ["an effect", "/tools/Bash", SLEEP, {}, "success"],
  ["an effect told as events", "/tools/Bash", SLEEP, EVENTS, "success"],
  [
    "an effect that ends with its caller",
    "/tools/Bash?cancel_on_disconnect=true",
    SLEEP,
    EVENTS,
    "cancelled",
  ],
])("%s whose caller goes", async (_what, path, body, headers, status) => {
  expect(await left(path, body, headers)).toBe(status);
});

test.each(["/tools/Bash", "/tools/invoke"])(
  "large answers of %s are given whole, one after the other",
  async (path) => {
    const { url } = await serve();
    const input = { command: `roomy ${BYTES}` };
    const body = JSON.stringify(path === "/tools/Bash" ? input : { tool: "Bash", input });
    const ask = (signal?: AbortSignal) =>
      fetch(url + path, { method: "POST", headers: json, body, signal: signal ?? null });
    const expectWhole = async () => expect(await (await ask()).json()).toMatchObject({ output: whole });
    for (let n = 0; n < 4; n++) await expectWhole();
    // Two fill the room for answers that nobody read yet; the third has it once their readers went.
    const leaving = new AbortController();
    await Promise.all([ask(leaving.signal), ask(leaving.signal)]);
    leaving.abort();
    await expectWhole();
  },
);

test.each(["/tools/Bash", "/tools/invoke"])(
  "room that an answer of %s did not need is given back",
  async (path) => {
    const { url } = await serve();
    const input = { command: `cautious ${BYTES}` };
    const body = JSON.stringify(path === "/tools/Bash" ? input : { tool: "Bash", input });
    for (let n = 0; n < 4; n++) {
      const response = await fetch(url + path, { method: "POST", headers: json, body });
      expect(await response.json()).toMatchObject({ output: "small" });
    }
  },
);
