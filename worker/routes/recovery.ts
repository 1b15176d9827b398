/** Recovery codes: made by a signed-in person, kept on paper, used when every passkey is lost. */
import { readBody } from "@matrx/shared/caller/body.ts";
import {
  readRecoveryCode,
  recoveryCodesLeftSchema,
  recoveryCodesSchema,
  recoverySignInSchema,
} from "@matrx/shared/recovery-code.ts";
import type * as z from "zod";
import { thumbprintOf } from "../auth/session-proof.ts";
import { unusableRecoveryCodeError } from "../auth/sign-in-errors.ts";
import { OPEN_BODY } from "../body.ts";
import { knownAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";
import type { RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";
import { KEY, SIGNED_IN_ANSWER, signedIn } from "./session.ts";

const CODE = "owner.7K2M-9Q4X-HV8T-5W1R";

export const recoveryRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/sign-in/recovery",
    id: "recover",
    tag: "Account",
    summary: "Sign in with a recovery code",
    description: "Each code works once. Letter case and dashes do not matter.",
    access: "secret",
    body: { schema: recoverySignInSchema, example: { code: CODE, key: KEY } },
    answers: { 200: SIGNED_IN_ANSWER },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { code: typed, key } = await readBody(c.req.raw, OPEN_BODY, recoverySignInSchema);
      const code = readRecoveryCode(typed);
      const account = code && (await knownAccount(c.env, code.account));
      if (!account) throw unusableRecoveryCodeError();
      const session = { name: browserName(c.req.header("User-Agent")), key: await thumbprintOf(key) };
      return signedIn(c, unwrap(await account.recover(code, session)));
    },
  },
  {
    method: "POST",
    path: "/v1/recovery-codes",
    id: "createRecoveryCodes",
    tag: "Passkeys",
    summary: "Make recovery codes",
    description:
      "They are shown only once, and replace all earlier ones. The relay keeps no more than their hashes.",
    access: "person",
    answers: {
      201: { description: "Ten codes", schema: recoveryCodesSchema, example: { codes: [CODE] } },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const account = c.env.ACCOUNT.getByName(caller.account);
      const codes = unwrap(await account.makeRecoveryCodes(caller.grant));
      c.header("Cache-Control", "no-store");
      return c.json({ codes } satisfies z.infer<typeof recoveryCodesSchema>, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/recovery-codes",
    id: "getRecoveryCodes",
    tag: "Passkeys",
    summary: "How many recovery codes are left?",
    access: "person",
    answers: {
      200: {
        description: "How many, and since when",
        schema: recoveryCodesLeftSchema,
        example: { left: 9, created: "2026-01-01T09:00:00.000Z" },
      },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const account = c.env.ACCOUNT.getByName(caller.account);
      return c.json(unwrap(await account.recoveryCodesLeft(caller.grant)));
    },
  },
];
