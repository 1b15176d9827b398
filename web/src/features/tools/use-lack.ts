/** Why a machine does not do what a page is for; undefined: it does, or that is not known. */
import { useTools } from "../../relay/tools.ts";

/** The list of a machine leaves out what the person may not call there. */
export function useLack(device: string, tool: string): string | undefined {
  const { data } = useTools(device);
  if (!data || data.tools.length === 0 || data.tools.some(({ name }) => name === tool)) return undefined;
  return `The machine does not offer “${tool}” to you: its agent is of an older release, or a rule does not let you use it.`;
}
