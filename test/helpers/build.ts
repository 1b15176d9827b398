/** Before the node suite: the relay that its tests start is bundled from the sources as they are now. */
import { messageOf } from "../../scripts/problem.ts";
import { buildWorker } from "../../scripts/worker-bundle.ts";

/** Tests that need no relay go on without it; `startRelay` refuses a bundle that is not fresh. */
export default async function setup(): Promise<void> {
  await buildWorker(console.error).catch((error) => console.error(messageOf(error)));
}
