/** Pictures of a machine's screen: asked for one at a time, while the page is looked at. */
import { useEffect, useEffectEvent, useState } from "react";
import { useTool } from "../../calls/use-tool.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";
import { type Picture, pictureIn } from "./picture.ts";

/** Pictures are taken only when somebody asks. */
export const NO_PACE = 0;

const TOOL = { name: "Screenshot", effect: "execute" } as const;

/** `isThere`: otherwise none are asked for. */
export function useScreen(device: string, isThere: boolean) {
  const [picture, setPicture] = useState<Picture>();
  const [pace, setPace] = useState(NO_PACE);
  // Nobody is asked again and again.
  const { run, ...state } = useTool(device, TOOL, pictureIn, () => setPace(NO_PACE));
  const [monitor, setMonitor] = useState<number>();
  const isSeen = useIsSeen();

  const take = async () => {
    const input = { format: "jpeg", ...(monitor !== undefined && { monitor }) };
    const taken = await run(input).catch(() => undefined);
    if (taken) setPicture(taken);
    // What was refused once is not asked for again and again.
    else setPace(NO_PACE);
  };

  const isWanted = pace !== NO_PACE && isSeen && isThere && !state.isBusy;
  const again = useEffectEvent(() => void take());
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(again, picture ? pace : 0);
    return () => clearTimeout(timer);
  }, [isWanted, pace, picture]);

  return { ...state, picture, pace, monitor, take: () => void take(), setPace, setMonitor };
}
