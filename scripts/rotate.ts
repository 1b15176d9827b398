/** `npm run rotate`: new keys for the relay that runs here, or for the deployed one, without signing out those who need not be. */
import { existsSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { isRetired, type RelayKeys } from "../shared/relay-keys.ts";
import { cloudFolder, writeSecretsFile } from "./deploy/secrets.ts";
import { messageOf, Problem, reportAndExit } from "./problem.ts";
import { parseKeys, retiredIn, rotated, withoutRetired } from "./rotate/keys.ts";
import { launcherOn, takeUp } from "./rotate/take-up.ts";
import { makeClaimCode } from "./start/claim.ts";
import { asksForHelp, readOptions } from "./start/options.ts";
import { keysFile, makeClaimSecret, openSecrets, replaceSecrets, type Secrets } from "./start/secrets.ts";
import { openToken } from "./start/token.ts";
import { wrangler } from "./wrangler.ts";

const USAGE = `npm run rotate -- [--deployed] [--drop] [--data .matrx]

  Makes a new signing key and a new secret for sign-in links, for when somebody else may have seen those of the relay.
  The old keys are retired: their private halves are deleted, and a token that one of them signed counts only if the
  relay knows that it gave it. Browsers, tokens and devices go on; unused links and what is older than this feature don't.

  --deployed       the relay on Cloudflare, which was deployed from here; otherwise the one of \`npm start\`, on the folder
                   of --data (env: MATRX_DATA), whether it runs or not
  --drop           removes the retired keys instead: every token, and every sign-in in a browser, that one of them
                   signed ends`;

const say = (line: string) => console.error(line);

async function main(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) return console.log(`Usage: ${USAGE}`);
  const { deployed, drop, data } = read(args);
  const { dataDir } = readOptions(data === undefined ? [] : ["--data", data], process.env, USAGE);
  const folder = deployed ? cloudFolder(dataDir) : dataDir;
  requireKeys(folder, deployed);
  const old = await openSecrets(folder);
  const before = parseKeys(old.relayKeys);
  if (drop && retiredIn(before).length === 0)
    return console.log(`No key in ${keysFile(folder)} is retired, so nothing changes.`);
  const after = drop ? withoutRetired(before) : await rotated(before, Date.now());
  const relayKeys = JSON.stringify(after);
  const secrets = drop ? { ...old, relayKeys } : { relayKeys, claimSecret: makeClaimSecret() };
  for (const line of changes(before, after)) say(line);
  if (deployed) await upload(folder, secrets);
  replaceSecrets(folder, secrets);
  if (!deployed) await takeUpHere(dataDir, after, secrets);
  console.log(drop ? DROPPED : ROTATED);
}

function read(args: readonly string[]) {
  try {
    const options = {
      deployed: { type: "boolean", default: false },
      drop: { type: "boolean", default: false },
      data: { type: "string" },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Problem(`${messageOf(error)}\nUsage: ${USAGE}`);
  }
}

/** Keys are never made here for a relay that has others. Throws Problem. */
function requireKeys(folder: string, deployed: boolean): void {
  if (existsSync(keysFile(folder))) return;
  throw new Problem(
    deployed
      ? `${folder} has no keys of a deployed relay: rotate them on the machine that it was deployed from.`
      : `There is no relay's data in ${folder}, so there are no keys to rotate. For a deployed relay, add --deployed.`,
  );
}

function changes({ keys: before }: RelayKeys, { keys: after }: RelayKeys): string[] {
  const isIn = (keys: RelayKeys["keys"], kid: string) => keys.some((key) => key.kid === kid);
  const added = after.filter(({ kid }) => !isIn(before, kid));
  const retired = after
    .filter(isRetired)
    .filter(({ kid }) => before.some((key) => key.kid === kid && !isRetired(key)));
  const removed = before.filter(({ kid }) => !isIn(after, kid));
  return [
    ...added.map(({ kid }) => `New key:      ${kid}, which signs from now on`),
    ...retired.map(({ kid }) => `Retired key:  ${kid}, its private half is deleted`),
    ...removed.map(({ kid }) => `Removed key:  ${kid}, with all that it signed`),
    ...(added.length > 0 ? ["New secret:   for sign-in links; unused ones no longer work"] : []),
  ];
}

/** The files here change only once Cloudflare has the secrets: the next deployment uploads what is in them. */
async function upload(folder: string, secrets: Secrets): Promise<void> {
  say("Replacing the secrets at Cloudflare ...");
  const file = writeSecretsFile(folder, { secrets });
  try {
    const { code } = await wrangler(["secret", "bulk", file], { show: true });
    if (code === 0) return;
  } finally {
    rmSync(file, { force: true });
  }
  throw new Problem(
    "Cloudflare did not confirm the new secrets; see wrangler's message above. The files here are as they were: rotate again.",
  );
}

async function takeUpHere(dataDir: string, { keys }: RelayKeys, { claimSecret }: Secrets): Promise<void> {
  const running = launcherOn(dataDir);
  if (!running) return say("No relay is running on this folder; its next start uses these keys.");
  say("Restarting the relay that runs here ...");
  const kids = keys.filter((key) => !isRetired(key)).map(({ kid }) => kid);
  await takeUp(dataDir, running, kids);
  say("It answers with these keys.");
  const url = `http://localhost:${running.port}`;
  await renewToken({ url, dataDir, claimCode: () => makeClaimCode(claimSecret) });
}

/** The token of the curl line that `npm start` printed may be one of those that ended. */
async function renewToken(relay: Parameters<typeof openToken>[0]): Promise<void> {
  try {
    await openToken(relay, say);
  } catch (error) {
    say(`A new token for the curl line could not be made, but the next start makes one: ${messageOf(error)}`);
  }
}

const ROTATED = `
Whoever has the old keys can no longer make anything that the relay accepts. What they made before may still be there,
so sign in, on a link of \`npm run link\` if need be, and look through the page:

  1. Sign out everywhere else, and revoke tokens and command lines that you don't know.
  2. Remove passkeys and devices that you don't know, and make new recovery codes.
  3. Withdraw invites and shares that you don't know.
  4. Everybody else with an account does the same.

If anything is refused that should not be, it is from before the relay kept hashes of its tokens: sign in again, or make
a new token. Once nothing of old is in use, \`npm run rotate -- --drop\` removes the retired keys for good.`;

const DROPPED = `
What a retired key signed is refused from now on: sign in again (\`npm run link\`), and make new tokens for scripts, AIs and
bare devices that are refused. Machines with our agent have keys of their own, and go on.`;

await main(process.argv.slice(2)).catch(reportAndExit);
