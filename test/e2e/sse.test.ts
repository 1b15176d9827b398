/** Calls as server-sent events through a real relay, read by fetch as programs do. */
import { readFileSync, writeFileSync } from "node:fs";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive } from "../../scripts/start/process.ts";
import { TIMES } from "../../shared/limits.ts";
import { fileIn, type Rig, recordOf, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

/** Events of one stream as they come. */
class Events {
  readonly response: Response;
  readonly #leaving: AbortController;
  readonly #inbox: EventSourceMessage[] = [];
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: (event) => this.#inbox.push(event) });

  private constructor(response: Response, leaving: AbortController) {
    this.response = response;
    this.#leaving = leaving;
    if (!response.body) throw new Error("no body");
    this.#chunks = response.body[Symbol.asyncIterator]();
  }

  static async of(path: string, init: RequestInit = {}): Promise<Events> {
    const leaving = new AbortController();
    const headers = {
      ...{ Authorization: `Bearer ${rig.token}`, "Content-Type": "application/json" },
      ...{ Accept: "text/event-stream", ...(init.headers as Record<string, string>) },
    };
    const response = await fetch(rig.base + path, { ...init, headers, signal: leaving.signal });
    return new Events(response, leaving);
  }

  static call(tool: string, input: object, query = ""): Promise<Events> {
    return Events.of(`/tools/${tool}${query}`, { method: "POST", body: JSON.stringify(input) });
  }

  static preferring(preference: string, tool: string, input: object): Promise<Events> {
    return Events.of(`/tools/${tool}`, {
      method: "POST",
      body: JSON.stringify(input),
      headers: { Prefer: preference },
    });
  }

  async next(): Promise<{ event: string; data: Record<string, unknown> } | undefined> {
    for (;;) {
      const message = this.#inbox.shift();
      if (message) return { event: message.event ?? "", data: JSON.parse(message.data) };
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    }
  }

  async rest() {
    const events: { event: string; data: Record<string, unknown> }[] = [];
    for (let next = await this.next(); next; next = await this.next()) events.push(next);
    return events;
  }

  leave(): void {
    this.#leaving.abort();
  }
}

it("tells output while the command runs, then the answer, and closes", async () => {
  const gate = fileIn(rig);
  const stream = await Events.call("Bash", {
    command: `echo first; until [ -e '${gate}' ]; do sleep 0.02; done; echo last; exit 3`,
  });
  expect(stream.response.headers.get("Content-Type")).toBe("text/event-stream");
  expect(await stream.next()).toMatchObject({
    event: "call",
    data: { call: stream.response.headers.get("Matrx-Call"), device: rig.device },
  });
  expect(await stream.next()).toMatchObject({ event: "output", data: { offset: 0, data: "first\n" } });
  writeFileSync(gate, "");
  expect(await stream.rest()).toMatchObject([
    { event: "output", data: { offset: 6, data: "last\n" } },
    { event: "result", data: { type: "success", metadata: { exit_code: 3 } } },
  ]);
});

/** These wait for the relay's own times; together they take no longer than one. */
it.concurrent("holds a quiet call that outlasts the object's wish to sleep", {
  timeout: 30_000,
}, async () => {
  const stream = await Events.call("Bash", { command: "sleep 13; echo awake" });
  expect((await stream.rest()).at(-1)).toMatchObject({
    event: "result",
    data: { output: "awake\n" },
  });
});

it.concurrent("of a reader who vanishes stops what was to stop, and lets another effect end", {
  timeout: 30_000,
}, async () => {
  const [gate, done, pid] = [fileIn(rig), fileIn(rig), fileIn(rig)];
  const goesOn = await Events.call("Bash", {
    command: `echo began; until [ -e '${gate}' ]; do sleep 0.02; done; echo done > '${done}'`,
  });
  await goesOn.next();
  const call = goesOn.response.headers.get("Matrx-Call") ?? "";
  expect(await goesOn.next()).toMatchObject({ event: "output" });
  goesOn.leave();
  const stops = await Events.call(
    "Bash",
    { command: `echo $$ > '${pid}'; echo began; sleep 60` },
    "?cancel_on_disconnect=true",
  );
  await stops.next();
  await stops.next();
  stops.leave();
  const shell = Number(readFileSync(pid, "utf8"));
  // The platform notices at the next comment.
  await expect.poll(() => isAlive(shell), { timeout: TIMES.streamKeepAlive + 5000 }).toBe(false);

  const again = await Events.of(`/calls/${call}`);
  expect(await again.next()).toMatchObject({ event: "call", data: { call } });
  writeFileSync(gate, "");
  expect(await again.rest()).toMatchObject([{ event: "result", data: { type: "success" } }]);
  expect(readFileSync(done, "utf8")).toBe("done\n");
  expect(await recordOf(rig, call)).toMatchObject({ state: "finished", status: "success" });
});

it("does not let one who does not read hold up another, nor lose the answer", async () => {
  const idle = await Events.call("Bash", { command: "yes | head -c 60000000; echo" });
  const reading = await Events.call("Bash", { command: "seq 100000" });
  expect((await reading.rest()).at(-1)).toMatchObject({ event: "result", data: { type: "success" } });
  const late = await idle.rest();
  expect(late.at(-1)).toMatchObject({ event: "result", data: { type: "success" } });
  const told = late.filter(({ event }) => event === "output").map(({ data }) => String(data.data).length);
  expect(told.reduce((sum, length) => sum + length, 0)).toBeLessThan(60_000_000);
});

it("sends a reader away when it prefers, and keeps the outcome for it", async () => {
  const file = fileIn(rig);
  const command = `until [ -e '${file}' ]; do sleep 0.05; done; echo late`;
  const events = await Events.preferring("respond-async, wait=1", "Bash", { command });
  const told = await events.rest();
  expect(told.map(({ event }) => event)).toEqual(["call", "pending"]);
  const { call } = told[0]?.data ?? {};
  expect(told[1]?.data).toEqual({
    ...{ call, state: "accepted" },
    url: `/v1/devices/${rig.device}/calls/${call}`,
  });
  writeFileSync(file, "");
  const attached = await Events.of(`/calls/${call}`);
  expect((await attached.rest()).at(-1)).toMatchObject({ event: "result", data: { output: "late\n" } });
});

it("keeps the outcome of a read, too, whose reader was sent away", async () => {
  const job = await Events.call("Bash", { command: "sleep 2; echo ready", run_in_background: true });
  const started = (await job.rest()).at(-1)?.data.metadata as { bash_id?: string; job_id?: string };
  const bash_id = started.bash_id ?? started.job_id;
  const events = await Events.preferring("wait=1", "BashOutput", { bash_id, wait_for: "exit" });
  const told = await events.rest();
  expect(told.at(-1)).toMatchObject({ event: "pending", data: { state: "accepted" } });
  const attached = await Events.of(`/calls/${told[0]?.data.call}`);
  expect((await attached.rest()).at(-1)).toMatchObject({ event: "result" });
});

it("answers 202 as soon as the caller prefers", async () => {
  const file = fileIn(rig);
  const response = await fetch(`${rig.base}/tools/Bash`, {
    method: "POST",
    headers: { Authorization: `Bearer ${rig.token}`, Prefer: "wait=1", "Content-Type": "application/json" },
    body: JSON.stringify({ command: `until [ -e '${file}' ]; do sleep 0.05; done` }),
  });
  expect(response.status).toBe(202);
  writeFileSync(file, "");
});
