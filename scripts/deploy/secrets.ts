/** Secrets of the relay on Cloudflare: made here at the first deployment, and not those of the embedded relay. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { messageOf, Problem } from "../problem.ts";
import { writePrivate } from "../start/data-folder.ts";
import { openSecrets, type Secrets } from "../start/secrets.ts";
import { wrangler } from "../wrangler.ts";

export function cloudFolder(dataDir: string): string {
  return join(dataDir, "cloudflare");
}

const listSchema = z.array(z.looseObject({ name: z.string() }));

/** The secrets to deploy with; undefined: those at Cloudflare stay, they were made elsewhere. Throws Problem. */
export async function secretsToDeploy(folder: string): Promise<Secrets | undefined> {
  if (!existsSync(join(folder, "keys.json")) && (await isDeployed())) return undefined;
  makeFolder(folder);
  return openSecrets(folder);
}

/** Writes the file that wrangler uploads the secrets from; they never stand in an argument. `issuers`: `OIDC_ISSUERS`. */
export function writeSecretsFile(
  folder: string,
  { secrets, issuers }: { secrets?: Secrets | undefined; issuers?: string | undefined },
): string {
  const file = join(folder, "secrets.json");
  const keys = secrets && { RELAY_KEYS: secrets.relayKeys, CLAIM_SECRET: secrets.claimSecret };
  writePrivate(file, JSON.stringify({ ...keys, ...(issuers && { OIDC_ISSUERS: issuers }) }));
  return file;
}

/** New keys in place of those at Cloudflare would lock out every device: so ask before making any. */
async function isDeployed(): Promise<boolean> {
  const { code, stdout, text } = await wrangler(["secret", "list", "--format", "json"]);
  if (code === 0) return listSchema.parse(JSON.parse(stdout)).some(({ name }) => name === "RELAY_KEYS");
  // 10007: there is no Worker of this name yet.
  if (/code: 10007|does not exist/i.test(text)) return false;
  throw new Problem(
    `Can't ask Cloudflare what is deployed. Did you run \`npx wrangler login\` first?\n${text.trim()}`,
  );
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Problem(
      `${folder} cannot be created (${messageOf(error)}): choose another folder with MATRX_DATA.`,
    );
  }
}
