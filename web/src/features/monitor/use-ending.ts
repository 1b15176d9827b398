/** Ends processes of a machine, and knows which of the calls wait for approval. */
import { useState } from "react";
import { callTool } from "../../calls/call-tool.ts";
import { say } from "../../ui/notices.ts";
import { shortLine } from "../../ui/visible-text.ts";
import type { Process } from "./processes.ts";

const STOP = { name: "StopProcess", effect: "execute" } as const;

export interface Ending {
  /** Those that end once somebody allows it. */
  readonly waiting: readonly Process[];
  /** Throws ApiError: also what the machine said against it. */
  readonly end: (process: Process) => Promise<void>;
}

export function useEnding(device: string): Ending {
  const [waiting, setWaiting] = useState<readonly Process[]>([]);
  const end = async (process: Process) => {
    const { pid, started, name } = process;
    const onAsked = (isAsked: boolean) =>
      setWaiting((now) => [...now.filter((one) => one !== process), ...(isAsked ? [process] : [])]);
    try {
      const { metadata } = await callTool(device, STOP, { pid, started }, { onAsked });
      const named = shortLine(name);
      say(
        metadata.how === "killed" ? `${named} did not end by itself, and was killed.` : `${named} has ended.`,
      );
    } finally {
      onAsked(false);
    }
  };
  return { waiting, end };
}
