/** A tool that is called when somebody asks: one call at a time, and what became of it. */
import { useEffect, useRef, useState } from "react";
import type { Tool } from "../../relay/call.ts";
import type { CallAnswer } from "../../relay/call-events.ts";
import { FailedCall } from "../../relay/failed-call.ts";
import { newCall, type ToolCall } from "../../relay/way.ts";

interface State {
  readonly error: unknown;
  readonly isBusy: boolean;
  /** Somebody has to allow it first. */
  readonly isAsked: boolean;
}

const NOTHING: State = { error: undefined, isBusy: false, isAsked: false };

export function useCall(device: string, tool: Tool) {
  const [state, setState] = useState(NOTHING);
  const running = useRef<ToolCall>(undefined);
  useEffect(() => () => running.current?.leave(), []);

  /** Its answer; undefined if it failed, which `error` tells then, or if somebody has left the page. */
  const run = async (input: Record<string, unknown>): Promise<CallAnswer | undefined> => {
    const call = newCall(device, tool);
    running.current = call;
    setState({ ...NOTHING, isBusy: true });
    const listener = {
      onCall: () => undefined,
      onEvent: ({ type }: { readonly type: string }) =>
        type === "approval" && setState((before) => ({ ...before, isAsked: true })),
      onTrouble: () => undefined,
    };
    try {
      const answer = await call.run(input, listener);
      if (answer?.type === "error") throw new FailedCall(answer);
      if (answer) setState(NOTHING);
      return answer;
    } catch (error) {
      setState({ ...NOTHING, error });
      return undefined;
    }
  };
  return { ...state, run };
}
