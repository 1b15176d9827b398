/** `npm start`: the relay and this machine's agent, until Ctrl-C. */
import { messageOf, reportAndExit } from "./problem.ts";
import { startAgent, untilOnline } from "./start/agent.ts";
import { openDataFolder } from "./start/data-folder.ts";
import { type Lock, takeLock } from "./start/lock.ts";
import { asksForHelp, readOptions, START_USAGE } from "./start/options.ts";
import { ensurePaired } from "./start/pairing.ts";
import { startRelay } from "./start/relay.ts";
import { screenOf } from "./start/screen.ts";
import { aborted, stopSignal } from "./start/shutdown.ts";
import { openToken } from "./start/token.ts";
import { buildWorker } from "./worker-bundle.ts";

type Step = () => Promise<void> | void;

const say = (line: string) => console.error(line);

/** Starts everything, waits for the signal, and leaves by `cleanups` what is to be undone, the newest first. */
async function run(stop: AbortSignal, cleanups: Step[]): Promise<void> {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) return console.log(`Usage: ${START_USAGE}`);
  const { port, dataDir, hosts } = readOptions(args, process.env);
  await buildWorker(say);
  openDataFolder(dataDir);
  const lock = await takeLock(dataDir, say);
  cleanups.unshift(lock.release);
  stop.addEventListener("abort", () => noteStopping(lock));
  stop.throwIfAborted();

  say("Starting the relay ...");
  const relay = await startRelay({
    dataDir,
    port,
    hosts,
    onStart: (pid) => lock.note({ relay: pid }),
    onDeath: (how) => say(`The relay ${how}. Restarting it ...`),
  });
  cleanups.unshift(relay.stop);
  lock.note({ port: relay.port });
  stop.throwIfAborted();

  const token = await openToken(relay, say);
  const paired = await ensurePaired(relay, token, stop, say);
  stop.throwIfAborted();

  say("Starting this machine's agent ...");
  const agent = await startAgent({
    dataDir,
    onStart: (pid) => lock.note({ agent: pid }),
    onDeath: (how) => say(`This machine's agent ${how}. Restarting it ...`),
  });
  cleanups.unshift(agent.stop);
  const device = await untilOnline(relay, agent, { token, id: paired.device_id, stop });

  console.log(screenOf({ url: relay.url, dataDir, signInLink: await relay.signInLink(), device }));
  void agent.gaveUp.then((what) => say(`${what}\nThe relay keeps running without it.`));
  await Promise.race([aborted(stop), relay.gaveUp.then((what) => Promise.reject(new Error(what)))]);
}

/** The data folder may be gone by now; what runs is to be ended all the same. */
function noteStopping(lock: Lock): void {
  try {
    lock.note({ stopping: true });
  } catch (error) {
    say(`\n${messageOf(error)}`);
  }
}

const stop = stopSignal();
const cleanups: Step[] = [];
let failure: unknown;
try {
  await run(stop, cleanups);
} catch (error) {
  failure = error;
}
if (stop.aborted) say("\nStopping ...");
for (const cleanup of cleanups) await cleanup();
if (failure !== undefined && !stop.aborted) reportAndExit(failure);
process.exit(0);
