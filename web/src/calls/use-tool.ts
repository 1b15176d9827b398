/** A tool that a component calls, and what became of the last call. */
import { useEffect, useRef, useState } from "react";
import type { Tool } from "../relay/call.ts";
import { callTool, type Input, type Success } from "./call-tool.ts";

interface State {
  readonly error: unknown;
  readonly isBusy: boolean;
  /** A person has to allow it first. */
  readonly isAsked: boolean;
}

const NOTHING: State = { error: undefined, isBusy: false, isAsked: false };

/**
 * `read`: what the component wants of an answer; throws if that is not in it. `onAsked`: a person has to allow the call. When the
 * component goes, its calls are left: what only reads is stopped, the rest goes on.
 */
export function useTool<T>(
  device: string,
  tool: Tool,
  read: (answer: Success) => T,
  onAsked?: (() => void) | undefined,
) {
  const [state, setState] = useState(NOTHING);
  const last = useRef<object>(undefined);
  const here = useRef<AbortController>(undefined);
  useEffect(() => {
    const staying = new AbortController();
    here.current = staying;
    return () => staying.abort();
  }, []);

  /** Resolves to what was read. Throws what `error` tells then, or the reason of a signal; `signal`: the answer is wanted no more. */
  const run = async (input: Input, signal?: AbortSignal): Promise<T> => {
    const mine = {};
    last.current = mine;
    /** An earlier call changes nothing once there is a later one. */
    const change = (now: State) => {
      if (last.current === mine) setState(now);
    };
    const signals = [here.current?.signal, signal].filter((one) => one !== undefined);
    change({ ...NOTHING, isBusy: true });
    try {
      const answer = await callTool(device, tool, input, {
        signal: AbortSignal.any(signals),
        onAsked(isAsked) {
          change({ ...NOTHING, isBusy: true, isAsked });
          if (isAsked) onAsked?.();
        },
        onTrouble: () => undefined,
      });
      const found = read(answer);
      change(NOTHING);
      return found;
    } catch (error) {
      change({ ...NOTHING, error });
      throw error;
    }
  };
  return { ...state, run };
}
