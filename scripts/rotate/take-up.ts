/** Has the relay that runs here take up the keys of its folder: its launcher starts it again with those. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { fetchElsewhere } from "../../agent/network/fetch.ts";
import { hasCode, messageOf, Problem } from "../problem.ts";
import { isRunning, type Running, readRunning } from "../start/lock.ts";
import { isAlive } from "../start/process.ts";
import { processTable } from "../start/process-table.ts";
import { STOP_GRACE } from "../start/relay.ts";
import { objectsOf } from "../start/workerd.ts";

/** The launcher may pause for up to a minute if the relay died again and again. */
const UP_WITHIN = 90_000;
const ANSWER_WITHIN = 2000;

const jwksSchema = z.object({ keys: z.array(z.object({ kid: z.string() })) });

/** The launcher that runs on a folder; undefined: none does. */
export function launcherOn(dataDir: string): Running | undefined {
  const running = readRunning(dataDir);
  return running && isRunning(running) ? running : undefined;
}

/** Ends the relay of a launcher, and waits until its successor answers with exactly these keys. Throws Problem. */
export async function takeUp(dataDir: string, running: Running, kids: readonly string[]): Promise<void> {
  const { relay, port } = running;
  if (relay === undefined || port === undefined) throw startAgain("it is only just starting");
  const command = processTable.commandOf(relay);
  if (command !== undefined && !command.includes(objectsOf(dataDir)))
    throw startAgain(`process ${relay} is another program by now`);
  try {
    await end(relay);
  } catch (error) {
    // It died by itself, so the next one is on its way.
    if (!hasCode(error, "ESRCH")) throw startAgain(messageOf(error));
  }
  const url = `http://localhost:${port}/.well-known/jwks.json`;
  for (const until = performance.now() + UP_WITHIN; performance.now() < until; await sleep(50))
    if (await answersWith(url, kids)) return;
  throw startAgain(`it does not answer with them at ${url}`);
}

/** Asked to stop, workerd serves open WebSockets on, for thieves too: soon it is killed. */
async function end(pid: number): Promise<void> {
  process.kill(pid, "SIGTERM");
  for (const until = performance.now() + STOP_GRACE; performance.now() < until; await sleep(20))
    if (!isAlive(pid)) return;
  process.kill(pid, "SIGKILL");
}

async function answersWith(url: string, kids: readonly string[]): Promise<boolean> {
  try {
    const response = await fetchElsewhere(url, { signal: AbortSignal.timeout(ANSWER_WITHIN) });
    const { keys } = jwksSchema.parse(await response.json());
    return keys.length === kids.length && keys.every(({ kid }, index) => kid === kids[index]);
  } catch {
    return false;
  }
}

function startAgain(why: string): Problem {
  return new Problem(
    `The keys in the folder were replaced, but the relay that runs there did not take them up: ${why}. ` +
      "Until it does, whoever has the old keys can still use it: stop it with Ctrl-C in its terminal, and start it again.",
  );
}
