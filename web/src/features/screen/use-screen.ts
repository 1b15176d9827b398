/** Pictures of a machine's screen: asked for one at a time, while the page is looked at. */
import { useEffect, useEffectEvent, useState } from "react";
import { FailedCall } from "../../relay/failed-call.ts";
import { newCall, type ToolCall } from "../../relay/way.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";
import { type Picture, pictureIn } from "./picture.ts";

/** Pictures are taken only when somebody asks. */
export const NO_PACE = 0;

const TOOL = { name: "Screenshot", effect: "execute" } as const;

interface State {
  readonly picture: Picture | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  /** Somebody has to allow it first. */
  readonly isAsked: boolean;
}

const NOTHING: State = { picture: undefined, error: undefined, isBusy: false, isAsked: false };

/** `isThere`: otherwise none are asked for. */
export function useScreen(device: string, isThere: boolean) {
  const [state, setState] = useState(NOTHING);
  /** How many were asked for: each is a call. */
  const [asked, setAsked] = useState(0);
  const [pace, setPace] = useState(NO_PACE);
  const [monitor, setMonitor] = useState<number>();
  const isSeen = useIsSeen();
  const { picture, isBusy } = state;
  const take = () => setAsked((before) => before + 1);

  const run = useEffectEvent(async (call: ToolCall) => {
    const merge = (next: Partial<State>) => setState((before) => ({ ...before, ...next }));
    merge({ isBusy: true });
    const listener = {
      onCall: () => undefined,
      onEvent: ({ type }: { readonly type: string }) => type === "approval" && merge({ isAsked: true }),
      onTrouble: () => undefined,
    };
    try {
      const input = { format: "jpeg", ...(monitor !== undefined && { monitor }) };
      const answer = await call.run(input, listener);
      // Somebody has left the page.
      if (!answer) return;
      if (answer.type === "error") throw new FailedCall(answer);
      merge({ picture: pictureIn(answer), error: undefined, isBusy: false, isAsked: false });
    } catch (error) {
      merge({ error, isBusy: false, isAsked: false });
      // What was refused once is not asked for again and again.
      setPace(NO_PACE);
    }
  });
  useEffect(() => {
    if (asked === 0) return;
    const call = newCall(device, TOOL);
    void run(call);
    return () => call.leave();
  }, [device, asked]);

  const isWanted = pace !== NO_PACE && isSeen && isThere && !isBusy;
  const again = useEffectEvent(take);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(again, picture ? pace : 0);
    return () => clearTimeout(timer);
  }, [isWanted, pace, picture]);

  return { ...state, pace, monitor, take, setPace, setMonitor };
}
