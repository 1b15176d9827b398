/** Sends a copy to the account's cloud store, where it can be fetched while the machine is off. */
import { openBytes } from "../../relay/api.ts";
import { ApiError } from "../../relay/api-error.ts";
import { problemIn } from "../../relay/problem-in.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { nameInText } from "../../ui/visible-text.ts";
import type { Placed } from "./dialog.ts";
import { joined } from "./paths.ts";

/** Until all of it is there. Says how it ended. */
export async function sendToCloud({ device, folder, entry }: Placed): Promise<void> {
  const name = nameInText(entry.name);
  try {
    say(`Sending ${name} to the cloud store …`);
    const options = { path: { device }, body: { path: joined(folder, entry.name) } };
    const headers = { Accept: "text/event-stream" };
    const response = await openBytes("POST /v1/devices/{device}/cloud-files", options, { headers });
    const answer = lastOf(await response.text().catch(() => ""));
    if (answer.event === "error") throw new ApiError(422, problemIn(answer.data));
    if (answer.event !== "stored") throw unclearError(name);
    say(`${name} is in the cloud store for a week: matrx cloud get fetches it.`);
  } catch (error) {
    sayProblem(error);
  }
}

/** The last event that came whole. */
function lastOf(text: string): { event: string; data: string } {
  const [, event = "", data = ""] = [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].at(-1) ?? [];
  return { event, data };
}

function unclearError(name: string): ApiError {
  return new ApiError(0, {
    detail: `The connection broke, so it is unclear whether ${name} is in the cloud store.`,
    hint: "Check with matrx cloud list.",
  });
}
