/** Shows a code, and waits until a person confirms it on a signed-in screen (RFC 8628). */
import { setTimeout as sleep } from "node:timers/promises";
import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { polledPairingSchema, type startedPairingSchema } from "@matrx/shared/api.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { renderUnicodeCompact } from "uqr";
import type * as z from "zod";
import { plain, printJsonLine, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";

type Started = z.infer<typeof startedPairingSchema>;
type Confirmed = Exclude<z.infer<typeof polledPairingSchema>, { status: "pending" }>;

/** Milliseconds between the first two polls; each pause is twice the one before, up to the relay's interval. */
const FIRST_PAUSE = 100;

interface Shown {
  json: boolean;
  /** Facts for the person to compare with the screen. */
  facts: Record<string, string>;
}

/** Shows the code, a QR code and the link on stderr; or prints one JSON line on stdout. */
export function showCode(started: Started, { json, facts }: Shown): void {
  const { code, verification_uri, expires_in } = started;
  if (json) return printJsonLine({ status: "pending", code, verification_uri, expires_in, ...facts });
  const lines = [
    "",
    process.stderr.isTTY ? renderUnicodeCompact(verification_uri) : "",
    `Open    ${styled("cyan", plain(verification_uri), process.stderr)}`,
    `Code    ${styled("bold", plain(code), process.stderr)}`,
    ...Object.entries(facts).map(([name, value]) => `${name.padEnd(8)}${value}`),
    "",
  ];
  console.error(lines.join("\n"));
}

/** Polls until the owner confirms: often at first, because a program confirms at once. Throws MatrxError if the code expires. */
export async function awaitConfirmation(
  client: RelayClient,
  started: Started,
  signal: AbortSignal,
): Promise<Confirmed> {
  const minutes = Math.ceil(started.expires_in / 60);
  return withProgress(
    `Waiting for your approval (the code is valid for ${minutes} min; Ctrl-C cancels)`,
    poll(client, started, signal),
  );
}

async function poll(client: RelayClient, started: Started, signal: AbortSignal): Promise<Confirmed> {
  const until = performance.now() + started.expires_in * 1000;
  const path = `${pathOf("v1", "pairings", started.code)}/poll`;
  const longest = started.interval * 1000;
  for (let pause = FIRST_PAUSE; performance.now() < until; pause = Math.min(2 * pause, longest)) {
    const polled = await pollOnce(client, path, started.secret);
    if (polled && polled.status !== "pending") return polled;
    try {
      await sleep(pause, undefined, { signal });
    } catch {
      throw gaveUp("CANCELLED", "Cancelled before the code was approved");
    }
  }
  throw gaveUp("APPROVAL_EXPIRED", "The code expired before anyone approved it");
}

/** A relay that is unreachable for a moment does not end the wait; a refusal does. */
async function pollOnce(client: RelayClient, path: string, secret: string) {
  try {
    return await client.post(path, polledPairingSchema, { secret });
  } catch (error) {
    const passing = error instanceof MatrxError && ["UNAVAILABLE", "RATE_LIMITED"].includes(error.code);
    if (passing) return undefined;
    throw error;
  }
}

function gaveUp(code: "CANCELLED" | "APPROVAL_EXPIRED", message: string): MatrxError {
  return callerError(code, message, { hint: "Run the command again for a new code" });
}
