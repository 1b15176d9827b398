/** The owner's answer to an app that wants to be let in, given as the relay's page gives it. */
import type * as z from "zod";
import { answeredRequestSchema, type newConsentSchema } from "../../shared/oauth-api.ts";
import type { TestRelay } from "./relay.ts";

type Grant = z.input<typeof newConsentSchema>["grant"];

/** Allows what brought the browser to `address`. Returns where the browser goes next: back to the app. */
export async function allowApp(relay: TestRelay, address: string | URL, grant: Grant): Promise<URL> {
  const request = new URL(address).search.slice(1);
  const session = await relay.signIn();
  const body = { request, grant };
  const answer = await relay.request(session, "POST /v1/oauth/consents", answeredRequestSchema, body);
  return new URL(answer.location);
}
