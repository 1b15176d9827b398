/** Links to the web servers of devices: a person makes one and opens it in a browser. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { relayError } from "@matrx/shared/errors.ts";
import { type DeviceId, randomBase32 } from "@matrx/shared/ids.ts";
import { newPortLinkSchema, portLinkSchema } from "@matrx/shared/port-link-api.ts";
import { hashOf } from "../auth/token-hash.ts";
import { CALLER_BODY } from "../body.ts";
import { visitSecretText } from "../forwarding/cookies.ts";
import { forwardOrigin } from "../forwarding/hosts.ts";
import { ENTER, SECRET_CHARACTERS } from "../forwarding/serve.ts";
import { unwrap } from "../outcome.ts";
import type { RelayRoute } from "../route.ts";

export const newPortLinkRoute: RelayRoute = {
  method: "POST",
  path: "/v1/devices/{device}/port-links",
  id: "createPortLink",
  tag: "Devices",
  summary: "Make a link to a web server of the device",
  description:
    "The link opens `localhost:PORT` of the device in one browser, at an origin of its own. It works once, within two minutes; the visit lasts until it expires or its grant is revoked. Policies that list ports must list this one.",
  access: "person",
  body: { schema: newPortLinkSchema, example: { port: 5173, minutes: 60 } },
  answers: {
    201: {
      description: "The link, shown only once",
      schema: portLinkSchema,
      example: {
        id: "grant_4k7m2x9qpatr6w1z",
        url: "https://5173--laptop-7h2k9m4x0q.forward.example/.matrx/enter/owner.grant_4k7m2x9qpatr6w1z.7h2k9m4x0q3v8n5c1b6z2w4t0p",
        port: 5173,
        expires: "2026-01-02T09:00:00.000Z",
      },
    },
  },
  errors: ["UNAVAILABLE", "RATE_LIMITED"],
  answer: async (c) => {
    const wish = await readBody(c.req.raw, CALLER_BODY, newPortLinkSchema);
    const { caller, device } = c.var;
    const { account, grant: person } = caller;
    const id = c.req.param("device") as DeviceId;
    const origin = forwardOrigin(c.env, c.req.raw, { device: id, port: wish.port });
    const secret = randomBase32(SECRET_CHARACTERS);
    const accounts = c.env.ACCOUNT.getByName(account);
    const made = unwrap(await accounts.createPortLink(person, id, wish, await hashOf(secret)));
    const { port } = wish;
    const question = { tool: "FetchPort", input: { port }, grant: made.id };
    const { decision, reason } = unwrap(await device.explain(caller, question));
    if (decision === "refused") {
      unwrap(await accounts.revokeToken(person, made.id));
      throw relayError("PERMISSION_DENIED", reason ?? `Port ${port} is refused`, {
        hint: "List it in allowed_ports of the device's policy",
        details: { port },
      });
    }
    c.header("Cache-Control", "no-store");
    const url = `${origin}${ENTER}${visitSecretText({ account, grant: made.id, secret })}`;
    return c.json({ id: made.id, url, port, expires: new Date(made.expires).toISOString() }, 201);
  },
};
