/**
 * `npm run deploy`: the relay on Cloudflare, with secrets made here once. `MATRX_URL` names its own domain, which links
 * then lead to. `-- --dry-run` builds and uploads nothing.
 */
import { rmSync } from "node:fs";
import { cloudFolder, secretsToDeploy, writeSecretsFile } from "./deploy/secrets.ts";
import { Problem, reportAndExit } from "./problem.ts";
import { makeSignInLink } from "./start/claim.ts";
import { openIssuers } from "./start/issuers.ts";
import { readOptions } from "./start/options.ts";
import { noteFolders } from "./start/registry.ts";
import type { Secrets } from "./start/secrets.ts";
import { wrangler } from "./wrangler.ts";

async function main(args: readonly string[]): Promise<void> {
  const dryRun = args.includes("--dry-run");
  const { dataDir, publicUrl, forwardDomain } = readOptions([], process.env);
  const folder = cloudFolder(dataDir);
  const secrets = dryRun ? undefined : await secretsToDeploy(folder);
  if (secrets) noteFolders(folder, console.error);
  const variables = [
    ...(publicUrl ? ["--var", `MATRX_URL:${publicUrl}`] : []),
    ...(forwardDomain ? ["--var", `FORWARD_DOMAIN:${forwardDomain}`] : []),
  ];
  const issuers = dryRun ? undefined : openIssuers(folder);
  const text = await upload({ folder, secrets, issuers }, [...variables, ...args]);
  if (dryRun) return console.log("\nDry run: nothing was uploaded.");
  const address = publicUrl ?? text.match(/https:\/\/[\w.-]+\.workers\.dev/)?.[0];
  console.log(await nextStep(address, secrets));
}

interface Uploaded {
  folder: string;
  /** Undefined: those at Cloudflare stay. */
  secrets: Secrets | undefined;
  issuers: string | undefined;
}

async function upload({ folder, secrets, issuers }: Uploaded, args: readonly string[]): Promise<string> {
  // With nothing to upload, what Cloudflare has stays.
  const file = secrets || issuers ? writeSecretsFile(folder, { secrets, issuers }) : undefined;
  try {
    const { code, text } = await wrangler(["deploy", ...(file ? ["--secrets-file", file] : []), ...args], {
      show: true,
    });
    if (code !== 0)
      throw new Problem("The relay was not deployed; see wrangler's message above. Nothing was lost.");
    return text;
  } finally {
    if (file) rmSync(file, { force: true });
  }
}

async function nextStep(address: string | undefined, secrets: Secrets | undefined): Promise<string> {
  if (!secrets)
    return "\nDeployed with the secrets that Cloudflare already has. Make sign-in links where those were created.";
  if (!address) return "\nDeployed. Make a sign-in link with: npm run link -- https://<the relay's address>";
  return `\nDeployed. Sign in (works once, within a day):\n\n  ${await makeSignInLink(address, secrets.claimSecret)}\n`;
}

await main(process.argv.slice(2)).catch(reportAndExit);
