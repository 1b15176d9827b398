/** A machine as a hostile or broken agent could be one: what a page asks it, the test answers. */
import type { Page, Route, WebSocketRoute } from "playwright-core";
import { StreamEnd } from "../../shared/streams/endpoint.ts";
import { decodeStreamFrame } from "../../shared/streams/frame.ts";

const CONNECTION = "0000000000000000";
const WINDOW = 64 * 1024;
const FRAME_BYTES = 65_472;

/** A call, as the page made it. */
export interface FakeCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the machine says about it: whatever the test likes. */
  say(frame: Readonly<Record<string, unknown>>): void;
  /** Ends it well. */
  answer(metadata: unknown): void;
  /** Ends it with an error. */
  refuse(code: string, output: string): void;
  /** It waits for a person. */
  wait(): void;
  /** The machine's end of the stream that the call opens. */
  readonly stream: StreamEnd;
}

export type Serve = (call: FakeCall) => unknown;

export interface FakeMachine {
  /** The calls that were made, the oldest first; cancelled ones too. */
  readonly calls: readonly FakeCall[];
  /** How many of them the page cancelled. */
  readonly cancelled: number;
  /** The connection is lost. */
  vanish(): Promise<void>;
}

/** From now on, `serve` answers what the page asks any machine, by requests and on connections. */
export async function fakeMachine(page: Page, serve: Serve): Promise<FakeMachine> {
  const calls: FakeCall[] = [];
  const lines: WebSocketRoute[] = [];
  let cancelled = 0;
  await page.route(/\/v1\/devices\/[^/]+\/tools\/[^/]+$/, async (route) => {
    const request = askedBy(route);
    calls.push(request.call);
    serve(request.call);
    await request.answered;
  });
  await page.routeWebSocket(/\/v1\/devices\/[^/]+\/ws$/, (line) => {
    lines.push(line);
    const streams = new Map<number, StreamEnd>();
    const say = (frame: object) => line.send(JSON.stringify(frame));
    line.onMessage((data) => {
      if (typeof data !== "string") {
        const frame = decodeStreamFrame(Uint8Array.from(data));
        return streams.get(frame.stream)?.receive(frame);
      }
      const { id, tool, input = {}, action, opens } = JSON.parse(data);
      if (action === "ping") say({ type: "pong" });
      if (action === "cancel") cancelled += 1;
      if (typeof tool !== "string") return;
      const stream = farEnd((frame) => line.send(Buffer.from(frame)), opens ?? { stream: 0, credit: 0 });
      if (opens) streams.set(opens.stream, stream);
      const call: FakeCall = {
        ...{ tool, input, stream },
        say: (frame) => say({ id, ...frame }),
        answer: (metadata) => say({ id, type: "success", output: "", image: null, call: "x", metadata }),
        refuse: (code, output) => say({ id, type: "error", code, output, hop: "tool", call: "x" }),
        wait: () => say({ id, type: "approval", state: "pending", call: "x", approval: "y" }),
      };
      calls.push(call);
      serve(call);
    });
    say({ type: "hello", protocol: 1 });
  });
  return {
    calls,
    get cancelled() {
      return cancelled;
    },
    vanish: async () => {
      await Promise.all(lines.splice(0).map((line) => line.close()));
    },
  };
}

/** The call that a request makes, which is answered with all of its events at once. */
function askedBy(route: Route): { call: FakeCall; answered: Promise<void> } {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const events: string[] = [];
  const tell = (event: string, data: object) =>
    events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const say = (event: string, data: object) => {
    tell(event, data);
    const headers = { "Content-Type": "text/event-stream", "Matrx-Call": "x" };
    resolve(route.fulfill({ headers, body: events.join("") }));
  };
  const tool = new URL(route.request().url()).pathname.split("/").at(-1) ?? "";
  const call: FakeCall = {
    ...{ tool, input: route.request().postDataJSON() ?? {} },
    stream: farEnd(() => undefined, { stream: 0, credit: 0 }),
    say: (frame) => say("result", frame),
    answer: (metadata) => say("result", { type: "success", output: "", image: null, metadata }),
    refuse: (code, detail) => say("error", { title: code, detail, code, hop: "tool" }),
    wait: () => tell("approval", { type: "approval", state: "pending", call: "x", approval: "y" }),
  };
  return { call, answered };
}

interface Wanted {
  readonly stream: number;
  readonly credit: number;
}

function farEnd(send: (frame: Uint8Array) => void, { stream, credit }: Wanted): StreamEnd {
  return new StreamEnd({
    ...{ connection: CONNECTION, bulk: false, stream, side: "device", hop: "agent" },
    ...{ window: WINDOW, frameBytes: FRAME_BYTES, credit },
    send,
  });
}
