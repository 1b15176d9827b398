/**
 * What a machine's person lets AIs and scripts of this browser do: nothing before they were asked. It holds for this tab, until
 * the machine is left or the person stops it.
 */
import { create } from "zustand";
import { denied, expired, PageToolError } from "./failure.ts";

/** `look`: lists and reads; `act`: commands too, each of them asked. */
export type Reach = "look" | "act";

export type Answer = "deny" | Reach | "once" | "all";

/** What is asked before a call that changes something. */
export interface Act {
  /** Such as “Run in terminal 1”. */
  readonly what: string;
  /** Exactly what runs, as it is; undefined: nothing is to be said besides. */
  readonly exactly?: string | undefined;
}

export interface Question {
  readonly id: number;
  /** Undefined: whether the machine may be used at all. */
  readonly act: Act | undefined;
  readonly answer: (answer: Answer) => void;
}

interface GateState {
  readonly reach: Reach | undefined;
  /** The first one is shown. */
  readonly questions: readonly Question[];
}

const MOST_WAITING = 16;
/** In milliseconds. */
const ANSWER_WITHIN = 5 * 60_000;
const ALL_FOR = 15 * 60_000;
/** After a no, nothing is asked for so long. */
const QUIET_AFTER_NO = 60_000;
/** So many in a row to acts count as one to all: whoever asks on and on would keep the person from the page. */
const NOES_TO_ACTS = 3;

export class Gate {
  readonly useState = create<GateState>(() => ({ reach: undefined, questions: [] }));
  #last = 0;
  /** Whoever calls meanwhile waits for the same answer. */
  #opening: Opening | undefined;
  #waiting = 0;
  #allUntil = 0;
  #quietUntil = 0;
  #noes = 0;

  /** Resolves when the machine may be looked at. Throws PageToolError; the signal's reason when that ends it. */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.useState.getState().reach !== undefined) return;
    if (Date.now() < this.#quietUntil) throw refused();
    const answer = await this.#inTurn(() => this.#open(signal));
    if (answer === "look" || answer === "act") return this.useState.setState({ reach: answer });
    this.#quietUntil = Date.now() + QUIET_AFTER_NO;
    throw refused();
  }

  /** Resolves when this may be done. Throws PageToolError; the signal's reason when that ends it. */
  async allow(act: Act, signal: AbortSignal): Promise<void> {
    await this.enter(signal);
    if (this.useState.getState().reach !== "act") throw looksOnly();
    if (Date.now() < this.#quietUntil) throw refused();
    if (Date.now() < this.#allUntil) return;
    const answer = await this.#inTurn(() => this.#ask(act, signal));
    if (answer === "all") return this.#allowAll();
    if (answer !== "once") {
      this.#countNo();
      throw denied("The person said no to this call", "Ask them what they want instead");
    }
    this.#noes = 0;
  }

  /** Takes back what was allowed, denies what waits, and asks nothing for a while. */
  close(): void {
    this.#quietUntil = Date.now() + QUIET_AFTER_NO;
    this.#allUntil = 0;
    const { questions } = this.useState.getState();
    this.useState.setState({ reach: undefined });
    for (const { answer } of questions) answer("deny");
  }

  #countNo(): void {
    if (Date.now() < this.#quietUntil) return;
    this.#noes++;
    if (this.#noes < NOES_TO_ACTS) return;
    this.#noes = 0;
    this.#quietUntil = Date.now() + QUIET_AFTER_NO;
    for (const { answer } of this.useState.getState().questions) answer("deny");
  }

  /** What waits was asked before, and is part of it. */
  #allowAll(): void {
    this.#noes = 0;
    this.#allUntil = Date.now() + ALL_FOR;
    for (const { act, answer } of this.useState.getState().questions) if (act) answer("once");
  }

  async #inTurn(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting >= MOST_WAITING) throw tooManyWait();
    this.#waiting++;
    try {
      return await ask();
    } finally {
      this.#waiting--;
    }
  }

  /** One question for all who call meanwhile; it goes when none of them waits any more. */
  async #open(signal: AbortSignal): Promise<Answer> {
    const opening = this.#opening ?? this.#begin();
    opening.waiting++;
    try {
      return await until(opening.answer, signal);
    } finally {
      opening.waiting--;
      if (opening.waiting === 0) opening.leave();
    }
  }

  #begin(): Opening {
    const left = new AbortController();
    const answer = this.#ask(undefined, left.signal).finally(() => {
      this.#opening = undefined;
    });
    this.#opening = { answer, waiting: 0, leave: () => left.abort() };
    return this.#opening;
  }

  /** Throws PageToolError: nobody answered in time; the signal's reason. */
  async #ask(act: Act | undefined, signal: AbortSignal): Promise<Answer> {
    this.#last++;
    const id = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const late = setTimeout(() => reject(expired()), ANSWER_WITHIN);
    this.useState.setState(({ questions }) => ({ questions: [...questions, { id, act, answer: resolve }] }));
    try {
      return await until(promise, signal);
    } finally {
      clearTimeout(late);
      this.useState.setState(({ questions }) => ({ questions: questions.filter((one) => one.id !== id) }));
    }
  }
}

interface Opening {
  readonly answer: Promise<Answer>;
  waiting: number;
  readonly leave: () => void;
}

/** Throws the signal's reason when that ends it. */
export async function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    signal.removeEventListener("abort", end);
    // It may still fail when nobody waits for it any more.
    promise.catch(() => undefined);
  }
}

function refused(): PageToolError {
  return denied(
    "The person does not let this page's tools be used",
    "Ask them; a call in a minute asks again in the page",
  );
}

function looksOnly(): PageToolError {
  return denied(
    "The person lets you look only",
    "Tell them what you want to do: a minute after Stop in this page, they are asked anew",
  );
}

function tooManyWait(): PageToolError {
  return new PageToolError(`${MOST_WAITING} calls wait for the person already`, {
    code: "RATE_LIMITED",
    hint: "Wait until they are answered",
  });
}
