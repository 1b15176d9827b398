/** A device's object with callers and a device on real sockets, and what each of them saw. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { ToDevice, ToolExecute } from "@matrx/shared/device-frames.ts";
import { effectOf } from "@matrx/shared/effects.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { expect, vi } from "vitest";
import { TestCaller } from "./caller.ts";
import { AgentDevice, type AgentIdentity } from "./device.ts";
import { home, object, sweepAt } from "./home.ts";
import { bearer, json, type Person } from "./relay.ts";
import { ask } from "./request.ts";

/** A call as the device's journal has it. */
interface Known {
  readonly execute: ToolExecute;
  state: "running" | "finished" | "unknown";
  isAcknowledged: boolean;
}

interface Asked {
  readonly tool: string;
  readonly answers: Partial<Answer>[];
}

/** A caller's socket, and what it asked there. */
interface Line {
  readonly caller: TestCaller;
  readonly grant: string;
  readonly asked: Map<string, Asked>;
}

export interface Wish {
  readonly tool: string;
  readonly key: string | undefined;
  readonly stops: boolean;
}

const TIMEOUT = 20_000;
const INPUT = { command: "x" };

export class CallWorld {
  readonly #person: Person;
  readonly #identity: AgentIdentity;
  readonly #restToken: string;
  readonly #lines = new Map<number, Line>();
  readonly #byRest: Promise<Asked>[] = [];
  /** How often calls, and what keys stand for, ran under whatever journal. */
  readonly #runs = new Map<string, number>();
  readonly #known = new Map<string, Known>();
  #device: AgentDevice | undefined;
  #journals = 1;
  #ids = 0;
  #waitingRequests = 0;

  private constructor(person: Person, identity: AgentIdentity, device: AgentDevice, restToken: string) {
    this.#person = person;
    this.#identity = identity;
    this.#device = device;
    this.#restToken = restToken;
  }

  /** From now on time stands still, but for `pass`. */
  static async open(): Promise<CallWorld> {
    const { person, identity, device, caller, token } = await home();
    caller.close();
    const rates = { messages_per_second: 1_000_000, calls_per_minute: 1_000_000 };
    await person.setPolicy(identity.id, { rates });
    // No timer runs in the object, which could not be evicted then: `pass` has it look after its calls.
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    return new CallWorld(person, identity, device, token);
  }

  async call(line: number, { tool, key, stops }: Wish): Promise<void> {
    const { caller, asked } = await this.#line(line);
    const id = `id-${this.#ids++}`;
    asked.set(id, { tool, answers: [] });
    const options = { timeout_ms: TIMEOUT, cancel_on_disconnect: stops };
    caller.send({ id, tool, input: INPUT, ...options, ...(key && { idempotency_key: key }) });
  }

  /** Under a name that its caller chose. */
  async callByRest(tool: string): Promise<void> {
    const call = makeCallId(Date.now());
    const path = `/v1/devices/${this.#identity.id}/tools/${tool}?timeout_ms=${TIMEOUT}`;
    const answering = ask(path, json(INPUT, { ...bearer(this.#restToken), "Matrx-Call": call }));
    const asked = async () => {
      const answer = await (await answering).json<Answer>();
      this.#waitingRequests--;
      return { tool, answers: [{ ...answer, call }] };
    };
    this.#waitingRequests++;
    this.#byRest.push(asked());
    // It is on its way to the object before anything else happens.
    await runInDurableObject(object(this.#identity.id), () => undefined);
  }

  async cancel(line: number): Promise<void> {
    (await this.#line(line)).caller.send({ action: "cancel_all" });
  }

  /** Nobody waits any more for what it asked. */
  async leave(line: number): Promise<void> {
    const { caller } = await this.#line(line);
    this.#lines.delete(line);
    caller.close();
    await caller.closed;
  }

  /** Its grant ends, and each of its calls is answered. */
  async revoke(line: number): Promise<void> {
    const { caller, grant, asked } = await this.#line(line);
    this.#lines.delete(line);
    await this.#person.ask(`/v1/tokens/${grant}`, { method: "DELETE" });
    await caller.closed;
    while (caller.unread > 0) note(asked, await caller.nextJson<Answer>());
    for (const { answers } of asked.values()) expect(answers).toHaveLength(1);
  }

  /** Of the calls that run, one ends; its answer may go out twice. */
  answer(which: number, times: number): void {
    const running = [...this.#known.values()].filter(({ state }) => state === "running");
    const known = running[which % running.length];
    if (!known) return;
    known.state = "finished";
    for (let n = 0; n < times; n++) this.#device?.answer(known.execute, "done");
  }

  /** To a call that nobody made. */
  answerStray(): void {
    const known = { type: "tool_execute", tool: "Bash", parameters: {}, timeout_sec: 20 } as const;
    this.#device?.answer({ ...known, tool_call_id: makeCallId(Date.now()) }, "stray");
  }

  async drop(): Promise<void> {
    this.#device?.close();
    await this.#device?.closed;
    this.#device = undefined;
  }

  /** The device's program ends: what ran is lost. */
  async die(): Promise<void> {
    await this.drop();
    for (const [call, known] of this.#known) {
      if (effectOf(known.execute.tool) === "read") this.#known.delete(call);
      else if (known.state === "running") known.state = "unknown";
    }
  }

  /** Another connection, which takes over if there is one. */
  async connect(): Promise<void> {
    this.#device = await AgentDevice.come(this.#identity, { journal: `journal-${this.#journals}` });
    for (const { execute, state, isAcknowledged } of this.#known.values())
      if (state === "finished" && !isAcknowledged) this.#device.answer(execute, "done");
  }

  async loseJournal(): Promise<void> {
    await this.die();
    this.#known.clear();
    this.#journals++;
    await this.connect();
  }

  /** Its timers keep it awake for the first seconds of a call, and so does a request that waits. */
  async sleep(): Promise<void> {
    await this.pass(6);
    if (this.#waitingRequests === 0) await evictDurableObject(object(this.#identity.id));
  }

  async pass(seconds: number): Promise<void> {
    vi.setSystemTime(Date.now() + seconds * 1000);
    await sweepAt(this.#identity.id, Date.now());
  }

  /** Everybody reads what has come. */
  async settle(): Promise<void> {
    for (const line of this.#lines.values()) await this.#readLine(line);
    await this.#readDevice();
    for (const line of this.#lines.values()) await this.#readLine(line);
    for (const [call, runs] of this.#runs) expect(runs, call).toBe(1);
  }

  /** The device is back and answers; then time runs out for the rest. */
  async end(): Promise<void> {
    if (!this.#device) await this.connect();
    await this.settle();
    for (const { state } of [...this.#known.values()]) if (state === "running") this.answer(0, 1);
    await this.settle();
    await this.pass(60);
    await this.settle();
    const asked = [...this.#lines.values()].flatMap((line) => [...line.asked.values()]);
    for (const { tool, answers } of [...asked, ...(await Promise.all(this.#byRest))]) {
      expect(answers).toHaveLength(1);
      const [answer] = answers;
      if (effectOf(tool) !== "read" && answer?.code === "DEVICE_OFFLINE" && answer.call)
        expect(this.#runs.get(answer.call)).toBeUndefined();
    }
    const rows = await runInDurableObject(object(this.#identity.id), (instance, { storage: { sql } }) => {
      expect(instance.diagnostics().recipients).toBe(0);
      return sql.exec<{ call: string; state: string }>("SELECT call, state FROM ledger").toArray();
    });
    for (const { call, state } of rows) {
      if (state === "expired") expect(this.#runs.get(call)).toBeUndefined();
      if (state === "finished") expect(this.#runs.get(call)).toBe(1);
    }
    for (const { caller } of this.#lines.values()) caller.close();
    await this.drop();
    vi.useRealTimers();
  }

  async #line(line: number): Promise<Line> {
    const known = this.#lines.get(line);
    if (known) return known;
    const { token, id } = await this.#person.token({ access: "full" });
    const caller = await TestCaller.connect(this.#identity.id, token);
    const made: Line = { caller, grant: id, asked: new Map() };
    this.#lines.set(line, made);
    return made;
  }

  /** The answer to a ping comes after all that came before it. */
  async #readLine({ caller, asked }: Line): Promise<void> {
    caller.send({ action: "ping" });
    for (;;) {
      const frame = await caller.nextJson<Answer | { type: "pong" }>();
      if (frame.type === "pong") return;
      note(asked, frame);
    }
  }

  /** What it does with all that came; the answer to a question of its own comes last. */
  async #readDevice(): Promise<void> {
    const device = this.#device;
    if (!device) return;
    const mark = makeCallId(Date.now());
    if (device.ws.readyState === WebSocket.OPEN)
      device.send({ type: "credit_request", tool_call_id: mark, bytes: 1 });
    for (;;) {
      const frame = await Promise.race([device.nextJson<ToDevice>(), device.closed]);
      if (!("type" in frame)) {
        this.#device = undefined;
        return;
      }
      if (frame.type === "tool_cancel" && frame.tool_call_id === mark) return;
      this.#handle(device, frame);
    }
  }

  #handle(device: AgentDevice, frame: ToDevice): void {
    if (frame.type === "tool_execute") this.#execute(device, frame);
    else if (frame.type === "tool_cancel") this.#cancel(device, frame.tool_call_id);
    else if (frame.type === "call_status") {
      const calls = frame.tool_call_ids.map((call) => ({
        tool_call_id: call,
        state: this.#statusOf(call),
      }));
      device.send({ type: "call_status", calls });
    } else if (frame.type === "result_ack")
      for (const call of frame.tool_call_ids) {
        const known = this.#known.get(call);
        if (known) known.isAcknowledged = true;
      }
  }

  #statusOf(call: string): string {
    const state = this.#known.get(call)?.state ?? "never";
    return state === "running" ? "started" : state;
  }

  #execute(device: AgentDevice, execute: ToolExecute): void {
    const call = execute.tool_call_id;
    const known = this.#known.get(call);
    if (known?.state === "finished") device.answer(execute, "done");
    if (known) return;
    this.#known.set(call, { execute, state: "running", isAcknowledged: false });
    if (effectOf(execute.tool) === "read") return;
    const { idempotency_key: key, grant } = execute;
    for (const name of [call, ...(key ? [`${grant?.id} ${key}`] : [])])
      this.#runs.set(name, (this.#runs.get(name) ?? 0) + 1);
  }

  #cancel(device: AgentDevice, call: string): void {
    const known = this.#known.get(call);
    if (known?.state !== "running") return;
    known.state = "finished";
    const code = "CANCELLED";
    device.answer(known.execute, "Cancelled", { status: "cancelled", code }, { code, hop: "tool" });
  }
}

function note(asked: ReadonlyMap<string, Asked>, answer: Answer): void {
  const { answers } = asked.get(answer.id ?? "") ?? { answers: [] as Partial<Answer>[] };
  answers.push(answer);
  expect(answers, JSON.stringify(answers)).toHaveLength(1);
}
