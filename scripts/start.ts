/** `npm start`: the relay and this machine's agent, until Ctrl-C. */
import { buildAll } from "./build-all.ts";
import { messageOf, reportAndExit } from "./problem.ts";
import { startAgent, untilOnline } from "./start/agent.ts";
import { openDataFolder } from "./start/data-folder.ts";
import { takeLock } from "./start/lock.ts";
import { asksForHelp, readOptions, START_USAGE } from "./start/options.ts";
import { ensurePaired } from "./start/pairing.ts";
import { noteFolders } from "./start/registry.ts";
import { startRelay } from "./start/relay.ts";
import { screenOf } from "./start/screen.ts";
import { stopSignal } from "./start/shutdown.ts";
import { openToken } from "./start/token.ts";

type Step = () => Promise<void> | void;

const say = (line: string) => console.error(line);

/** Starts everything and waits for the signal; pushes onto `cleanups` what to undo, newest first. */
async function run(stop: AbortSignal, cleanups: Step[]): Promise<void> {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) return console.log(`Usage: ${START_USAGE}`);
  const { port, dataDir, publicUrl, forwardDomain } = readOptions(args, process.env);
  await buildAll(say);
  openDataFolder(dataDir);
  const lock = await takeLock(dataDir, say);
  cleanups.unshift(lock.release);
  noteFolders(dataDir, say);
  stop.addEventListener("abort", () => lock.note({ stopping: true }));
  stop.throwIfAborted();

  say("Starting the relay ...");
  const relay = await startRelay({
    dataDir,
    port,
    publicUrl,
    forwardDomain,
    onStart: (pid) => lock.note({ relay: pid }),
    onDeath: (how, ms) => sayOnce(`The relay ${how}. Restarting it ${inWords(ms)} ...`),
  });
  cleanups.unshift(relay.stop);
  lock.note({ port: relay.port, url: relay.publicUrl });
  stop.throwIfAborted();

  const token = await openToken(relay, say);
  const paired = await ensurePaired(relay, token, stop, say);
  stop.throwIfAborted();

  say("Starting this machine's agent ...");
  const agent = await startAgent({
    dataDir,
    onStart: (pid) => lock.note({ agent: pid }),
    onDeath: (how, ms) => sayOnce(`This machine's agent ${how}. Restarting it ${inWords(ms)} ...`),
  });
  cleanups.unshift(agent.stop);
  const device = await untilOnline(relay, agent, { token, id: paired.device_id, stop });
  if (device.state !== "ONLINE")
    say(
      `This machine's agent can't reach the relay yet; it keeps trying. Its last messages:\n${await agent.lastLines()}`,
    );

  const { url } = relay;
  console.log(
    screenOf({ url, publicUrl: relay.publicUrl, dataDir, signInLink: await relay.signInLink(), device }),
  );
  void agent.gaveUp.then((what) => say(`${what}\nThe relay keeps running without it.`));
  await relay.untilGone(stop);
}

/** Prints a recurring problem only once. */
function sayOnce(line: string): void {
  if (line !== lastSaid) say(line);
  lastSaid = line;
}

function inWords(ms: number): string {
  return ms < 1000 ? "at once" : `in ${Math.round(ms / 1000)} s`;
}

let lastSaid = "";
const stop = stopSignal();
const cleanups: Step[] = [];
let failure: unknown;
try {
  await run(stop, cleanups);
} catch (error) {
  failure = error;
}
if (stop.aborted) say("\nStopping ...");
for (const cleanup of cleanups) {
  try {
    await cleanup();
  } catch (error) {
    say(messageOf(error));
  }
}
if (failure !== undefined && !stop.aborted) reportAndExit(failure);
process.exit(0);
