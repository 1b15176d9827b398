/** A stream that a tool opens for a component, as long as the component is there and looked at. */
import type { Opened } from "@matrx/client/transport.ts";
import { useEffect, useEffectEvent, useState } from "react";
import { DeviceLink } from "../relay/streams/device-link.ts";
import { useIsSeen } from "../ui/use-is-seen.ts";
import type { Input } from "./call-tool.ts";
import { type Away, keepStream } from "./kept-stream.ts";

interface Wanted {
  readonly device: string;
  readonly tool: string;
  readonly input: Input;
  readonly credit: number;
  /** None is wanted now. */
  readonly isPaused: boolean;
  readonly onAway: (away: Away) => void;
  /** Takes what comes, to the stream's end, after which it is opened again. Throws MatrxError. */
  readonly take: (opened: Opened) => Promise<void>;
}

/**
 * None is asked for while the page is out of sight; what a person had to allow goes on, for otherwise that person would be asked
 * again. Returns how to ask again after a failure.
 */
export function useToolStream({ device, tool, input, credit, isPaused, ...wanted }: Wanted): () => void {
  const [tries, setTries] = useState(0);
  const [needsApproval, setNeedsApproval] = useState(false);
  const isWanted = useIsSeen() || needsApproval;
  const link = useLink(device);
  const asked = JSON.stringify(input);
  const current = useEffectEvent(() => input);
  const onAway = useEffectEvent((away: Away) => {
    if (away.kind === "asked") setNeedsApproval(true);
    wanted.onAway(away);
  });
  const take = useEffectEvent(wanted.take);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever tries again asks anew
  useEffect(() => {
    if (!link || isPaused || !isWanted) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    void keepStream({ link, tool, input: current, credit, signal, onAway, take });
    return () => leaving.abort();
  }, [link, tool, asked, credit, isPaused, isWanted, tries]);
  return () => setTries((before) => before + 1);
}

/** The connection to a machine; undefined: not yet. */
function useLink(device: string): DeviceLink | undefined {
  const [link, setLink] = useState<DeviceLink>();
  useEffect(() => {
    const made = new DeviceLink(device);
    setLink(made);
    return () => {
      made.close();
      setLink(undefined);
    };
  }, [device]);
  return link;
}
