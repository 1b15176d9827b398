/** `npm run link`: a fresh sign-in link, for the relay that runs here or (given its address) for the deployed one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderUnicodeCompact } from "uqr";
import { isAccountId } from "../shared/ids.ts";
import { isLoopback } from "../shared/public-url.ts";
import { cloudFolder } from "./deploy/secrets.ts";
import { messageOf, Problem, reportAndExit } from "./problem.ts";
import { makeSignInLink } from "./start/claim.ts";
import { isRunning, readRunning } from "./start/lock.ts";
import { asksForHelp, readOptions } from "./start/options.ts";
import { openSecrets } from "./start/secrets.ts";

const USAGE = `npm run link -- [--account <id>] [--qr] [--data .matrx] [https://<a deployed relay's address>]

  Without an address: for the relay that runs on this machine, on the folder of --data (env: MATRX_DATA).
  --account <id>  signs in to this account of the relay, whose owner lost every other way in; otherwise to yours
  --qr            shows the link as a QR code too, for a phone`;

async function main(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) return console.log(`Usage: ${USAGE}`);
  const { qr, data, address, account } = read(args);
  const { dataDir } = readOptions(data === undefined ? [] : ["--data", data], process.env, USAGE);
  const link = await linkFor({ dataDir, account }, address);
  if (qr) showQr(link);
  console.log(link);
}

function read(args: readonly string[]) {
  try {
    const options = {
      qr: { type: "boolean" },
      data: { type: "string" },
      account: { type: "string" },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [address, ...others] = positionals;
    if (others.length > 0) throw new Problem(`Unexpected argument "${others[0]}".`);
    const { account } = values;
    if (account !== undefined && !isAccountId(account))
      throw new Problem(`"${account}" is not an account's id.`);
    return { ...values, account, address: address === undefined ? undefined : addressOf(address) };
  } catch (error) {
    throw new Problem(`${messageOf(error)}\nUsage: ${USAGE}`);
  }
}

function addressOf(text: string): URL {
  if (/^https?:/.test(text) && URL.canParse(text)) return new URL(text);
  throw new Problem(`"${text}" is not an address.`);
}

/** Who is to sign in, and where the secrets for that are. */
interface Wish {
  dataDir: string;
  account: string | undefined;
}

/** The relay that runs here may be asked for by its public address, too. */
async function linkFor(wish: Wish, address: URL | undefined): Promise<string> {
  const { dataDir, account } = wish;
  const running = readRunning(dataDir);
  const url =
    running?.port && isRunning(running) ? (running.url ?? `http://localhost:${running.port}`) : undefined;
  if (address && address.origin !== url) return cloudLink(wish, address);
  if (url) return makeSignInLink(url, (await openSecrets(dataDir)).claimSecret, account);
  throw new Problem(`No relay is running on ${dataDir}. Start one with \`npm start\`, which prints a link.`);
}

async function cloudLink({ dataDir, account }: Wish, { origin }: URL): Promise<string> {
  const folder = cloudFolder(dataDir);
  if (existsSync(join(folder, "claim-secret")))
    return makeSignInLink(origin, (await openSecrets(folder)).claimSecret, account);
  throw new Problem(
    `No relay is running here at ${origin}, and ${folder} has no secrets of a deployed one. For the relay of \`npm start\`, ` +
      `start it with MATRX_URL=${origin}; for a deployed one, make the link on the machine it was deployed from.`,
  );
}

/** On stderr: a program reads the link alone. */
function showQr(link: string): void {
  console.error(`\n${renderUnicodeCompact(link)}\n`);
  if (isLoopback(new URL(link).hostname))
    console.error(
      "Only this machine can reach that address. For a phone, put the relay behind a proxy, or deploy it: docs/guides/proxy.md\n",
    );
}

await main(process.argv.slice(2)).catch(reportAndExit);
