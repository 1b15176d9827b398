/** What the person typed beside what is on the machine. */
import { DiffView } from "../../../ui/result/DiffView.tsx";
import { lineChanges } from "./line-changes.ts";

export function Compared({ mine, theirs }: { mine: string; theirs: string }) {
  return <DiffView diff={lineChanges(theirs, mine)} label="From the machine's version to yours" />;
}
