/** How loaded a machine is, as its tool SystemInfo tells. Asked while somebody looks, and seldom: each time is a call. */
import { create } from "zustand";
import { onForget } from "../base/tab-store.ts";
import { callTool } from "../calls/call-tool.ts";
import { useQuery } from "./query.ts";

const LOOK_EVERY = 60_000;
const SYSTEM_INFO = { name: "SystemInfo", effect: "read" } as const;

/** Parts of whole, from 0 to 1; undefined: the machine did not tell. */
export interface Load {
  /** Of all cores together, over the last minute. */
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
  readonly disk: number | undefined;
  readonly uptimeSeconds: number | undefined;
  /** When it was told, in milliseconds. */
  readonly at: number;
}

/** `waiting`: a call waits for approval; `asked`: one did, so no further one is made by itself. */
type Question = "waiting" | "asked";

/** By machine. They outlast the pages, which come and go. */
const useQuestions = create<Readonly<Record<string, Question | undefined>>>(() => ({}));

onForget(() => useQuestions.setState({}, true));

/** `isOnline`: otherwise nobody is asked, and what was told last stays. */
export function useLoad(device: string, isOnline: boolean) {
  const question = useQuestions((questions) => questions[device]);
  const query = useQuery({
    queryKey: ["load", device],
    queryFn: ({ signal }) => readLoad(device, signal),
    enabled: isOnline && question === undefined,
    staleTime: LOOK_EVERY,
    refetchInterval: LOOK_EVERY,
    gcTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return { query, question };
}

/** A read that nobody asked for is withdrawn when somebody has to allow it: then it throws an AbortError. */
async function readLoad(device: string, ended: AbortSignal): Promise<Load> {
  const note = (question: Question | undefined) => useQuestions.setState({ [device]: question });
  const isWanted = useQuestions.getState()[device] !== undefined;
  const withdrawn = new AbortController();
  const signal = AbortSignal.any([ended, withdrawn.signal]);
  let wasAsked = false;
  const onAsked = (isAsked: boolean) => {
    wasAsked = true;
    if (isWanted) note(isAsked ? "waiting" : "asked");
    // A page of many machines would hold a connection for each question, and the browser has six.
    else withdrawn.abort();
  };
  try {
    const load = loadOf((await callTool(device, SYSTEM_INFO, {}, { signal, onAsked })).metadata);
    // Somebody wanted it, and nobody had to allow it any more.
    if (!wasAsked) note(undefined);
    return load;
  } finally {
    // Not before: whoever asks while this one is withdrawn would share its end.
    if (wasAsked) note("asked");
  }
}

function loadOf(metadata: Readonly<Record<string, unknown>>): Load {
  const cpu = record(metadata.cpu);
  const memory = record(metadata.memory);
  const disk = record(metadata.disk);
  const [lastMinute] = Array.isArray(cpu.load) ? cpu.load : [];
  return {
    cpu: part(lastMinute, cpu.cores),
    memory: usedPart(memory.available_bytes, memory.total_bytes),
    disk: usedPart(disk.free_bytes, usableBytes(disk)),
    uptimeSeconds: typeof metadata.uptime_seconds === "number" ? metadata.uptime_seconds : undefined,
    at: Date.now(),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function part(value: unknown, whole: unknown): number | undefined {
  if (typeof value !== "number" || typeof whole !== "number" || whole <= 0) return undefined;
  return Math.min(Math.max(value / whole, 0), 1);
}

/** What the machine's users can fill of a disk, as `df` counts: the rest is kept for its administrator. */
export function usableBytes(disk: Readonly<Record<string, unknown>>): unknown {
  const { used_bytes: used, free_bytes: free, total_bytes: total } = disk;
  return typeof used === "number" && typeof free === "number" ? used + free : total;
}

function usedPart(free: unknown, total: unknown): number | undefined {
  const rest = part(free, total);
  return rest === undefined ? undefined : 1 - rest;
}
