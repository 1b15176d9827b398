/** REST bodies of letting an AI client in by OAuth, and the metadata that clients read. */
import * as z from "zod";
import { grantClientSchema } from "./grant.ts";
import { newTokenSchema } from "./token-api.ts";

const request = z
  .string()
  .min(1)
  .max(8192)
  .describe("The query with which the client sent the browser to `/authorize`, unchanged");

/** `POST /v1/oauth/requests` and `POST /v1/oauth/refusals` */
export const clientRequestSchema = z.strictObject({ request });

export const requestAnswerSchema = z.enum(["allowed", "denied"]);
export type RequestAnswer = z.infer<typeof requestAnswerSchema>;

/** What a person must know before they let a client in. */
export const clientRequestViewSchema = z.object({
  client: grantClientSchema,
  redirect_host: z
    .string()
    .describe(
      "Where the browser goes next, with the code: a host, or the scheme of a program, such as `cursor:`",
    ),
  redirect_is_local: z.boolean().describe("It stays on the browser's own machine"),
  device: z.string().nullable().describe("The only device that the client asks for; null: it asks for any"),
  answered: requestAnswerSchema
    .nullable()
    .describe("What the person answered already, on another page; null: nothing yet"),
});
export type ClientRequestView = z.infer<typeof clientRequestViewSchema>;

/** `POST /v1/oauth/consents` */
export const newConsentSchema = z.strictObject({
  request,
  account: z
    .string()
    .optional()
    .describe(
      "The account that the person was shown; whoever is signed in as another one by now lets nobody in",
    ),
  grant: newTokenSchema.omit({ credential: true, access: true }).describe("As for an AI token"),
});

/** Where the page sends the browser: back to the client. */
export const answeredRequestSchema = z.object({ location: z.string() });

/** RFC 9728 */
export const protectedResourceSchema = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
});

/** RFC 8414, as far as clients need it. */
export const authorizationServerSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string(),
  registration_endpoint: z.string(),
  code_challenge_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
  client_id_metadata_document_supported: z.boolean(),
});

/** RFC 6749, section 5.1 */
export const issuedTokensSchema = z.looseObject({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
});

/** RFC 7591, as far as clients need it. */
export const registeredClientSchema = z.looseObject({
  client_id: z.string(),
  redirect_uris: z.array(z.string()),
});

/** RFC 6749, section 5.2 */
export const oauthErrorSchema = z.object({ error: z.string(), error_description: z.string().optional() });
