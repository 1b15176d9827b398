/** `npm run link`: a fresh sign-in link, for the relay that runs here or (given its address) for the deployed one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cloudFolder } from "./deploy/secrets.ts";
import { Problem, reportAndExit } from "./problem.ts";
import { makeSignInLink } from "./start/claim.ts";
import { isRunning, readRunning } from "./start/lock.ts";
import { asksForHelp, readOptions } from "./start/options.ts";
import { openSecrets } from "./start/secrets.ts";

const USAGE = `npm run link -- [--data .matrx] | https://<the deployed relay's address>

  Without an address: for the relay that runs on this machine, on the folder of --data (env: MATRX_DATA).`;

async function main(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) return console.log(`Usage: ${USAGE}`);
  const [first = ""] = args;
  const link = /^https?:/.test(first) ? await cloudLink(addressOf(first)) : await localLink(args);
  console.log(link);
}

async function localLink(args: readonly string[]): Promise<string> {
  const { dataDir } = readOptions(args, process.env, USAGE);
  const running = readRunning(dataDir);
  if (!running?.port || !isRunning(running)) {
    throw new Problem(
      `No relay runs on ${dataDir}: start one with \`npm start\`, which prints a link itself.`,
    );
  }
  const { claimSecret } = await openSecrets(dataDir);
  return makeSignInLink(`http://localhost:${running.port}`, claimSecret);
}

function addressOf(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new Problem(`"${text}" is not an address.\nUsage: ${USAGE}`);
}

async function cloudLink({ origin }: URL): Promise<string> {
  const folder = cloudFolder(readOptions([], process.env).dataDir);
  if (!existsSync(join(folder, "claim-secret"))) {
    throw new Problem(
      `${folder} has no secrets of a deployed relay: make the link on the machine it was deployed from.`,
    );
  }
  return makeSignInLink(origin, (await openSecrets(folder)).claimSecret);
}

await main(process.argv.slice(2)).catch(reportAndExit);
