/** The cases: who reads how much at once, and how. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { usageOf } from "../fleet/usage.ts";
import type { Processes } from "../processes.ts";
import { startAgent, untilConnected } from "../variants/agent.ts";
import { type OurRelay, startOurs } from "../variants/ours.ts";
import { peakOf } from "./peak.ts";
import { readByRest } from "./rest-reader.ts";
import { SocketReader } from "./socket-reader.ts";

/** In MiB. */
interface Memory {
  before: number;
  peak: number;
  /** Some seconds after the last answer. */
  after: number;
}

export interface Figures {
  relay: Memory;
  agent: Memory;
  seconds: number;
  /** What else was observed. */
  notes: string[];
}

/** Relay and agent of one case. */
interface Pair {
  relay: OurRelay;
  device: string;
  /** An image whose answer is larger than 7 MB. */
  image: string;
  /** A small text. */
  text: string;
}

export interface Case {
  name: string;
  what: string;
  /** Returns what else was observed. */
  run: (pair: Pair) => Promise<string[]>;
}

const READS = 160;
const IMAGE_BYTES = 5_500_000;

export const CASES: readonly Case[] = [
  ...[1, 4, 8].map((atOnce) => ({
    name: `rest-${atOnce}`,
    what: `${READS} results of 7.3 MB by REST, ${atOnce} at a time`,
    run: (pair: Pair) => byRest(pair, atOnce),
  })),
  { name: "sockets", what: "120 such results over two WebSockets, 4 at a time each", run: bySocket },
  {
    name: "unread",
    what: "4 WebSockets of one token ask for 30 such results each and read none",
    run: unread,
  },
  { name: "eight", what: "8 WebSockets of one token ask for one each, and read at once", run: eight },
  { name: "thousand", what: "1,000 small reads by REST at once, three times", run: thousand },
];

/** `settle`: how long it gets to give memory back, in milliseconds. */
export async function measureCase(
  processes: Processes,
  { name, run }: Case,
  settle: number,
): Promise<Figures> {
  const relay = await startOurs(processes, name);
  const agent = await startAgent(processes, relay, join(processes.folder, `${name}-agent`));
  const pair = { relay, device: agent.device, ...filesIn(processes.folder) };
  const [first] = await SocketReader.open(pair.relay, pair.device, 1);
  await untilConnected(async () => first?.read(pair.text));
  const memory = (pid: number) => Math.round(usageOf(pid).memory_kib / 1024);
  const before = { relay: memory(relay.pid), agent: memory(agent.pid) };
  const start = performance.now();
  const notes = await run(pair);
  const seconds = (performance.now() - start) / 1000;
  await sleep(settle);
  first?.close();
  const figuresOf = (program: "relay" | "agent") => {
    const { pid } = { relay, agent }[program];
    return { before: before[program], peak: peakOf(pid), after: memory(pid) };
  };
  const figures = { relay: figuresOf("relay"), agent: figuresOf("agent"), seconds, notes };
  await processes.kill(agent.pid);
  await relay.stop();
  return figures;
}

function filesIn(folder: string): { image: string; text: string } {
  const image = join(folder, "noise.png");
  const text = join(folder, "small.txt");
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  writeFileSync(image, Buffer.concat([mark, randomBytes(IMAGE_BYTES)]));
  writeFileSync(text, "hello\n");
  return { image, text };
}

async function byRest({ relay, device, image }: Pair, atOnce: number): Promise<string[]> {
  const { bytes, failed } = await readByRest(relay, device, { file: image, reads: READS, atOnce });
  return [`${(bytes / 1e6).toFixed(0)} MB`, ...failed];
}

async function bySocket({ relay, device, image }: Pair): Promise<string[]> {
  const readers = await SocketReader.open(relay, device, 2);
  const lanes = readers.flatMap((reader) => [1, 2, 3, 4].map(() => reader));
  let begun = 0;
  const lane = async (reader: SocketReader) => {
    while (begun++ < 120) await reader.read(image);
  };
  const lost = (await Promise.allSettled(lanes.map(lane))).filter(
    ({ status }) => status === "rejected",
  ).length;
  for (const reader of readers) reader.close();
  return [`${lost} of 8 lanes broken off`];
}

/** Meanwhile another caller reads a small file; then the deaf readers disconnect. */
async function unread({ relay, device, image, text }: Pair): Promise<string[]> {
  const deaf = await SocketReader.open(relay, device, 4);
  for (const reader of deaf) {
    reader.pause();
    for (let n = 0; n < 30; n++) reader.ask(image);
  }
  await sleep(200);
  const other = { ...relay, token: await relay.owner.token() };
  const [reader] = await SocketReader.open(other, device, 1);
  const waits: number[] = [];
  for (let n = 0; n < 20; n++) {
    const asked = performance.now();
    await reader?.read(text);
    waits.push(performance.now() - asked);
    await sleep(200);
  }
  reader?.close();
  await sleep(5000);
  for (const one of deaf) one.close();
  const longest = Math.max(...waits);
  const first = waits[0] ?? Number.NaN;
  return [`another caller's first read took ${first.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms`];
}

async function eight({ relay, device, image }: Pair): Promise<string[]> {
  const readers = await SocketReader.open(relay, device, 8);
  const answers = await Promise.allSettled(readers.map((reader) => reader.read(image)));
  const closed = answers.filter(({ status }) => status === "rejected").length;
  for (const reader of readers) reader.close();
  return [`${closed} of 8 closed`];
}

async function thousand({ relay, device, text }: Pair): Promise<string[]> {
  const failed: string[] = [];
  for (let times = 0; times < 3; times++)
    failed.push(...(await readByRest(relay, device, { file: text, reads: 1000, atOnce: 1000 })).failed);
  return [`${failed.length} of 3,000 refused`];
}
