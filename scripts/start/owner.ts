/** The relay's REST interface as the owner uses it: a person session for a few steps, a token for the rest. */
import { exportJWK, generateKeyPair } from "jose";
import type * as z from "zod";
import { fetchElsewhere } from "../../agent/network/fetch.ts";
import { problemSchema } from "../../shared/api.ts";
import { signedInSchema } from "../../shared/session-api.ts";
import { createdTokenSchema, type newTokenSchema } from "../../shared/token-api.ts";
import { messageOf, Problem } from "../problem.ts";
import type { Relay } from "./relay.ts";

/** A bearer token: a session's access token, or one of its own. */
export type Credential = { token: string };

/** Every answer must come within, in milliseconds. */
const ANSWER_WITHIN = 20_000;

/** The relay refused the request. */
export class Refusal extends Problem {
  /** What it said, where that could be read. */
  readonly problem: z.infer<typeof problemSchema> | undefined;

  constructor(line: string, answer: string) {
    super(`${line} was refused: ${sentenceOf(answer)}`);
    this.problem = problemOf(answer);
  }
}

/** Calls the relay and checks the answer's shape. Throws Refusal with what the relay said. */
export async function request<Schema extends z.ZodType>(
  relay: Pick<Relay, "url">,
  credential: Credential | undefined,
  line: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`,
  schema: Schema,
  body?: unknown,
): Promise<z.infer<Schema>> {
  const response = await send(relay, credential, line, body);
  const answer = await response.text();
  if (!response.ok) throw new Refusal(line, answer);
  return schema.parse(answer === "" ? undefined : JSON.parse(answer));
}

/** Tells whether the relay accepts a token. Throws Refusal when it cannot tell. */
export async function isAccepted(relay: Pick<Relay, "url">, token: string): Promise<boolean> {
  const line = "GET /v1/account";
  const response = await send(relay, { token }, line);
  const answer = await response.text();
  if (response.status >= 500) throw new Refusal(line, answer);
  return response.ok;
}

/** Signs the owner in with a fresh code, for the few minutes of an access token: the session's key is thrown away. */
export async function signIn(relay: Pick<Relay, "url" | "claimCode">): Promise<Credential> {
  const { publicKey } = await generateKeyPair("ES256");
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const body = { code: await relay.claimCode(), key: { kty, crv, x, y } };
  return { token: (await request(relay, undefined, "POST /v1/claim", signedInSchema, body)).access_token };
}

/** Signs in, hands the session to `use`, and signs out. */
export async function asOwner<Result>(
  relay: Pick<Relay, "url" | "claimCode">,
  use: (session: Credential) => Promise<Result>,
): Promise<Result> {
  const session = await signIn(relay);
  try {
    return await use(session);
  } finally {
    await send(relay, session, "POST /v1/sign-out");
  }
}

/** Makes an API token. */
export async function makeToken(
  relay: Pick<Relay, "url">,
  session: Credential,
  wanted: z.input<typeof newTokenSchema>,
): Promise<string> {
  return (await request(relay, session, "POST /v1/tokens", createdTokenSchema, wanted)).token;
}

async function send(
  { url }: Pick<Relay, "url">,
  credential: Credential | undefined,
  line: string,
  body?: unknown,
): Promise<Response> {
  const [method = "GET", path = "/"] = line.split(" ");
  const headers = new Headers({ Origin: url });
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (credential) headers.set("Authorization", `Bearer ${credential.token}`);
  try {
    return await fetchElsewhere(`${url}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_WITHIN),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    const why = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
    throw new Problem(`The relay at ${url} does not respond (${why}): start again; its log may say more.`);
  }
}

function sentenceOf(answer: string): string {
  const { detail, hint } = problemOf(answer) ?? {};
  if (!detail) return answer.slice(0, 300) || "no reason given";
  return hint ? `${detail}. ${hint}` : detail;
}

function problemOf(answer: string): z.infer<typeof problemSchema> | undefined {
  try {
    return problemSchema.parse(JSON.parse(answer));
  } catch {
    return undefined;
  }
}
