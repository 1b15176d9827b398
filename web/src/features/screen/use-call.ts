/** A tool that is called when somebody asks: one call at a time, and what became of it. */
import { useEffect, useRef, useState } from "react";
import { newCall, type ToolCall } from "../../data/way.ts";
import type { Tool } from "../../relay/call.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import { FailedCall } from "../../relay/failed-call.ts";

interface State {
  readonly error: unknown;
  readonly isBusy: boolean;
  /** Somebody has to allow it first. */
  readonly isAsked: boolean;
}

const NOTHING: State = { error: undefined, isBusy: false, isAsked: false };

/** `read`: what the page wants of an answer; throws if that is not in it. `onAsked`: somebody has to allow the call. */
export function useCall<T>(
  device: string,
  tool: Tool,
  read: (answer: CallAnswer) => T,
  onAsked?: () => void,
) {
  const [state, setState] = useState(NOTHING);
  const running = useRef<ToolCall>(undefined);
  useEffect(() => () => running.current?.leave(), []);

  /** What was read; undefined if the call failed, which `error` tells then, or if somebody has left the page. */
  const run = async (input: Record<string, unknown>): Promise<T | undefined> => {
    const call = newCall(device, tool);
    running.current = call;
    setState({ ...NOTHING, isBusy: true });
    const listener = {
      onCall: () => undefined,
      onEvent: (event: CallEvent) => {
        if (event.type !== "approval") return;
        const isAsked = event.state === "pending";
        setState((before) => ({ ...before, isAsked }));
        if (isAsked) onAsked?.();
      },
      onTrouble: () => undefined,
    };
    try {
      const answer = await call.run(input, listener);
      if (!answer) return undefined;
      if (answer.type === "error") throw new FailedCall(answer);
      const found = read(answer);
      setState(NOTHING);
      return found;
    } catch (error) {
      setState({ ...NOTHING, error });
      return undefined;
    }
  };
  return { ...state, run };
}
