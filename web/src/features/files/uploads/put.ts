/** Puts what a person chose or dropped into the queue. */
import { sayProblem } from "../../../ui/notices.ts";
import { addUploads, MOST, type Picked } from "./queue.ts";

export function put(device: string, folder: string, picked: readonly Picked[]): void {
  const left = addUploads(device, folder, picked);
  if (left > 0)
    sayProblem(
      new Error(`At most ${MOST.toLocaleString()} files at once: ${left.toLocaleString()} were left out.`),
    );
}
