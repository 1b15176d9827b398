/** Ways to sign in, and the one by an issuer (OpenID Connect). */
import * as z from "zod";
import { sessionKeySchema } from "./session-api.ts";

/** `GET /v1/sign-in` */
export const signInMethodsSchema = z.object({
  passkeys: z.boolean(),
  oidc: z.array(z.object({ id: z.string(), name: z.string() })),
});

/** `POST /v1/sign-in/oidc/{issuer}`: the key that the session will be bound to. */
export const issuerStartSchema = z.strictObject({ key: sessionKeySchema });

export const issuerStartedSchema = z.object({
  location: z.string().describe("Where the browser goes, to sign in at the issuer"),
});

/** `POST /v1/sign-in/oidc/{issuer}/finish` */
export const issuerFinishSchema = z.strictObject({
  response: z.string().max(8192).describe("The query that the issuer sent the browser back with, as it came"),
});
