/** The events of a call (`text/event-stream`), and what they are about. */
import type {
  approvalEventSchema,
  gapEventSchema,
  outputEventSchema,
  progressEventSchema,
} from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type * as z from "zod";
import { answerIn, answerOf, type CallProblem, UNREADABLE } from "./answer.ts";

/** The relay says something every 15 seconds; after this long without a word the connection is broken, in milliseconds. */
const SILENT_AFTER = 45_000;

export type CallAnswer = Answer;

export type CallEvent =
  | z.infer<typeof outputEventSchema>
  | z.infer<typeof gapEventSchema>
  | z.infer<typeof progressEventSchema>
  | z.infer<typeof approvalEventSchema>;

type Told = { kind: "event"; event: CallEvent } | { kind: "answer"; answer: CallAnswer };

interface RawEvent {
  readonly event: string;
  readonly data: string;
}

/** Yields what is told of a call, until the stream ends, breaks or falls silent. An answer comes last. */
export async function* eventsOf(response: Response): AsyncGenerator<Told> {
  for await (const { event, data } of rawEventsOf(response)) {
    if (event === "result") yield { kind: "answer", answer: resultIn(data) };
    else if (event === "error") yield { kind: "answer", answer: answerOf(problemIn(data)) };
    else if (isKnown(event)) yield { kind: "event", event: JSON.parse(data) };
  }
}

/** A newer relay may tell more than this page knows. */
function isKnown(event: string): event is CallEvent["type"] {
  return KNOWN.includes(event);
}

const KNOWN: readonly string[] = ["output", "gap", "progress", "approval"] satisfies CallEvent["type"][];

/** The call ended, whatever came of its answer on the way. */
function resultIn(data: string): CallAnswer {
  try {
    const answer = answerIn(JSON.parse(data));
    if (answer) return answer;
  } catch {
    // Told below.
  }
  return answerOf(UNREADABLE);
}

function problemIn(data: string): CallProblem {
  try {
    const value: Partial<CallProblem> | null = JSON.parse(data);
    return { ...UNREADABLE, ...value };
  } catch {
    return UNREADABLE;
  }
}

async function* rawEventsOf({ body }: Response): AsyncGenerator<RawEvent> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let text = "";
  try {
    for (;;) {
      const part = await heard(reader.read()).catch(() => undefined);
      if (!part || part.done) return;
      // Only what came last can hold the end of an event: a long one is not searched again and again.
      const isComplete = (text.slice(-1) + part.value).includes("\n\n");
      const blocks = isComplete ? (text + part.value).split("\n\n") : [text + part.value];
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Rejects when a read takes too long. */
async function heard<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The connection fell silent")), SILENT_AFTER);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a comment. */
function parsed(block: string): RawEvent | undefined {
  const fields = new Map(block.split("\n").map(fieldOf));
  const data = fields.get("data");
  return data === undefined ? undefined : { event: fields.get("event") ?? "message", data };
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}
