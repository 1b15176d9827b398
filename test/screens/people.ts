/** Who uses the relay of the pictures: its owner, a friend with an account, AIs and a script with tokens. */
import { exportJWK, generateKeyPair } from "jose";
import * as z from "zod";
import { signInLinkSchema } from "../../shared/api.ts";
import { createdInviteSchema } from "../../shared/invite-api.ts";
import { signedInSchema } from "../../shared/session-api.ts";
import { createdShareSchema } from "../../shared/share-api.ts";
import { createdTokenSchema, type NewToken } from "../../shared/token-api.ts";
import type { TestRelay } from "../helpers/relay.ts";

export interface People {
  /** Of an AI that may change files after a question. */
  readonly claude: string;
  /** Of an AI that only reads. */
  readonly codex: string;
  /** Of the owner's script. */
  readonly backup: string;
  /** What follows `#` in a link to an account that nobody has made yet. */
  readonly invite: string;
  /** What follows `#` in a link to machines that nobody has accepted yet. */
  readonly share: string;
  /** Links that sign the friend in, each once. */
  readonly guestLinks: readonly string[];
}

/** `project`: a folder on the machine `device`; `guests`: how many links for the friend. */
export async function invitePeople(
  relay: TestRelay,
  { device, project, guests }: { device: string; project: string; guests: number },
): Promise<People> {
  const owner = await relay.signIn();
  await relay.request(owner, "PATCH /v1/account", z.unknown(), { display_name: "Ann" });
  const token = async (wish: Partial<NewToken>) =>
    (await relay.request(owner, "POST /v1/tokens", createdTokenSchema, wish)).token;
  const claude = await token({ name: "Claude", paths: [project], network: ["api.example.com"] });
  const codex = await token({ name: "Codex", paths: null, effects: ["read"], devices: [device], days: 30 });
  const backup = await token({ name: "nightly backup", credential: "script" });

  const invited = async (name: string) =>
    codeOf((await relay.request(owner, "POST /v1/invites", createdInviteSchema, { name })).link);
  const ben = { token: await join(relay, await invited("Ben")) };
  const invite = await invited("Clara");
  const shared = async (name: string) => {
    const wish = { name, devices: [device], paths: [project], effects: ["read"] };
    return codeOf((await relay.request(owner, "POST /v1/shares", createdShareSchema, wish)).link);
  };
  const accepted = await shared("Ben, the garden's files");
  await relay.request(ben, "POST /v1/shares/accept", z.unknown(), { code: accepted.split("=")[1] });
  const share = await shared("Ben, to look at the logs");
  const guestLinks: string[] = [];
  for (let at = 0; at < guests; at++)
    guestLinks.push((await relay.request(ben, "POST /v1/sign-in-links", signInLinkSchema, {})).link);
  return { claude, codex, backup, invite, share, guestLinks };
}

/** What is asked for in a link: `invite=...`. */
export function codeOf(link: string): string {
  return link.slice(link.indexOf("#") + 1);
}

async function join(relay: TestRelay, invite: string): Promise<string> {
  const { kty, crv, x, y } = await exportJWK((await generateKeyPair("ES256")).publicKey);
  const body = { code: invite.split("=")[1], name: "Ben", key: { kty, crv, x, y } };
  return (await relay.request(undefined, "POST /v1/invites/accept", signedInSchema, body)).access_token;
}
