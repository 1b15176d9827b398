/** `OIDC_ISSUERS`: who else may say who somebody is (OpenID Connect), and which account that person then gets. */
import * as z from "zod";
import { shownName } from "./plain-names.ts";
import { isLoopback } from "./public-url.ts";
import { zodMessages } from "./zod-messages.ts";

const ISSUERS_MAX = 16;
const LISTED_MAX = 10_000;

/** What a person's identity at an issuer is listed by: with an `@` it is an e-mail address, without one a `sub`. */
const personSchema = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, "must be a sub or an e-mail address in ASCII")
  .transform((person) => (isEmail(person) ? emailKey(person) : person));

const accountSchema = z.string().regex(/^[a-z0-9_-]{1,64}$/, "must be an account's id, such as owner");

const listSchema = z
  .record(z.string(), accountSchema, "must be “open”, or an object of sub or e-mail address to account")
  .transform((listed, context) => {
    const accounts = new Map<string, string>();
    for (const [person, account] of Object.entries(listed)) {
      const key = personSchema.safeParse(person, { error: zodMessages });
      if (!key.success || accounts.has(key.data)) {
        const why = key.success ? "is listed twice" : (key.error.issues[0]?.message ?? "is not a person");
        context.addIssue({ code: "custom", path: [person], message: why });
        continue;
      }
      accounts.set(key.data, account);
    }
    return accounts;
  })
  .refine(({ size }) => size <= LISTED_MAX, `must have at most ${LISTED_MAX} entries`);

const issuerSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, "must be a short name in lower case, such as home"),
  name: shownName,
  issuer: z.string().refine(isIssuer, "must be an https address, without query and fragment"),
  client_id: z.string().min(1).max(512),
  client_secret: z.string().min(1).max(4096).optional(),
  scopes: z
    .string()
    .max(512)
    .default("openid email profile")
    .refine((scopes) => scopes.split(" ").includes("openid"), "must contain openid"),
  /** At a private address, which the relay reaches for no other purpose. */
  local: z.boolean().default(false),
  accounts: z.union([z.literal("open"), listSchema]),
});

const issuersSchema = z
  .array(issuerSchema)
  .max(ISSUERS_MAX)
  .refine((issuers) => new Set(issuers.map(({ id }) => id)).size === issuers.length, "has an id twice");

export type Issuer = z.infer<typeof issuerSchema>;

/** Why a text is no list of issuers. Says nothing of the secrets in it. */
export class IssuersFault extends Error {
  override name = "IssuersFault";
}

/** Reads `OIDC_ISSUERS`. Throws IssuersFault. */
export function parseIssuers(text: string): Issuer[] {
  const result = issuersSchema.safeParse(parsed(text), { error: zodMessages });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.code === "unrecognized_keys" ? [...issue.path, issue.keys[0]] : (issue?.path ?? []);
  throw new IssuersFault([field.join("."), innermost(issue)].filter(Boolean).join(": "));
}

/** An e-mail address as it is compared: ASCII letters in lower case and nothing else, since other letters fold into these. */
export function emailKey(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function isEmail(person: string): boolean {
  return person.includes("@");
}

/** Without TLS only on this machine. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.search || url.hash || url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** Of a union zod only says that nothing fits. */
function innermost(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code !== "invalid_union") return issue?.message ?? "is not as documented";
  const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === "custom");
  if (!inner) return "must be “open”, or an object of sub or e-mail address to account";
  return [inner.path.join("."), inner.message].filter(Boolean).join(" ");
}

/** The engine's own message would quote the text, and a secret with it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new IssuersFault("it is not JSON");
  }
}
