/** Before the node suite: the relay that its tests start is bundled from the sources as they are now. */
import { buildAll } from "../../scripts/build-all.ts";
import { messageOf } from "../../scripts/problem.ts";

/** Tests that need no relay go on without it; `startRelay` refuses a bundle that is not fresh. */
export default async function setup(): Promise<void> {
  await buildAll(console.error).catch((error) => console.error(messageOf(error)));
}
