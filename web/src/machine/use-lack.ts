/** Why a machine does not do what a page is for; undefined: it does, or that is not known. */
import { useDevice } from "../data/devices.ts";
import { useTools } from "../data/tools.ts";
import { nameInText } from "../ui/visible-text.ts";

export function useLack(device: string, tool: string): string | undefined {
  const isMissing = useMissing(device)(tool);
  const why = useWhy(device);
  return isMissing ? `The machine does not offer “${tool}” to you: ${why}.` : undefined;
}

/** Tells of a tool that the machine does not offer it. Its list leaves out what the person may not call there. */
export function useMissing(device: string): (tool: string) => boolean {
  const { data } = useTools(device);
  return (tool) =>
    data !== undefined && data.tools.length > 0 && !data.tools.some(({ name }) => name === tool);
}

/** Why a tool may be missing, in the words of a sentence's end. */
export function useWhy(device: string): string {
  const owner = useDevice(device)?.shared_by;
  if (owner !== undefined) return `it is not part of what ${nameInText(owner)} shares with you`;
  return "its agent is an older release, or a rule doesn't let you use it";
}
