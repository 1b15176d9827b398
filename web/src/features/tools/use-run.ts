/** The call that was made last with a tool: how it goes, and how it ended. */
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { useCallback, useEffect, useRef, useState } from "react";
import { queryClient } from "../../app/query.ts";
import { Call } from "../../relay/call.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import { DEVICES_KEY } from "../../relay/devices.ts";

/** Live output that is shown; all of it comes with the answer, or is in the call's record. */
const SHOWN = 200_000;

export interface Run {
  readonly state: "running" | "over";
  /** When it began, and once it is over when it ended, in milliseconds. */
  readonly began: number;
  readonly ended: number | undefined;
  /** How it stands, in a sentence. */
  readonly words: string;
  readonly canStop: boolean;
  readonly output: string;
  readonly progress: string | undefined;
  readonly answer: CallAnswer | undefined;
  readonly error: unknown;
}

export function useRun(device: string, tool: ToolDescription) {
  const [run, setRun] = useState<Run>();
  const current = useRef<Call>(undefined);
  // What only reads stops with the view; the rest goes on at the machine, and in the activity.
  useEffect(() => () => current.current?.leave(), []);

  const start = useCallback(
    async (input: Record<string, unknown>) => {
      const call = new Call(device, tool);
      current.current?.leave();
      current.current = call;
      const change = (next: Partial<Run>) =>
        setRun((before) => (before && current.current === call ? { ...before, ...next } : before));
      setRun({ ...BEGUN, began: Date.now() });
      try {
        const answer = await call.run(input, {
          onCall: () => change({ canStop: true, words: runningWords(tool) }),
          onEvent: (event) => setRun((before) => before && withEvent(before, event)),
          onTrouble: (words) => change({ words }),
        });
        if (answer) change({ state: "over", ended: Date.now(), answer });
      } catch (error) {
        change({ state: "over", ended: Date.now(), error });
      }
      await queryClient.invalidateQueries({ queryKey: DEVICES_KEY });
    },
    [device, tool],
  );
  const stop = useCallback(async () => current.current?.stop(), []);
  return { run, start, stop };
}

const BEGUN: Run = {
  state: "running",
  began: 0,
  ended: undefined,
  words: "Sending …",
  canStop: false,
  output: "",
  progress: undefined,
  answer: undefined,
  error: undefined,
};

function runningWords({ name, effect }: ToolDescription): string {
  const leaving =
    effect === "read" ? "It stops when you leave this page." : "It goes on if you leave this page.";
  return `${name} is running. ${leaving}`;
}

function withEvent(run: Run, event: CallEvent): Run {
  if (event.type === "output") return { ...run, output: (run.output + event.data).slice(-SHOWN) };
  if (event.type === "gap")
    return { ...run, output: `${run.output}\n[Some output was left out here.]\n`.slice(-SHOWN) };
  if (event.type === "approval")
    return {
      ...run,
      words: event.state === "pending" ? "Waiting for somebody to allow it." : "Allowed. Running …",
    };
  const { progress, total, message } = event;
  const part = total === undefined ? String(progress) : `${progress} of ${total}`;
  return { ...run, progress: message === undefined ? part : `${part}: ${message}` };
}
