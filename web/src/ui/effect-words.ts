/** What a tool does to a machine, in words. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { Tone } from "./Status.tsx";

interface EffectWords {
  readonly tone: Tone;
  readonly text: string;
}

const EFFECTS: Readonly<Record<Effect, EffectWords>> = {
  read: { tone: "idle", text: "Only reads" },
  write: { tone: "warn", text: "Changes files" },
  execute: { tone: "bad", text: "Runs or deletes things" },
};

export function effectWords(effect: Effect): EffectWords {
  return EFFECTS[effect] ?? { tone: "warn", text: effect };
}
