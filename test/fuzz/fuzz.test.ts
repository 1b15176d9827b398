/**
 * Every route, fuzzed from the server's own OpenAPI document: no fault of ours, and answers as described. The same
 * requests each time; `npm run test:long -- test/fuzz` makes many more, others each time.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../helpers/folder.ts";
import { LONG } from "../helpers/long-mode.ts";
import { pythonProgram } from "../helpers/python-program.ts";
import { localPlace, type Place, relayPlace } from "./places.ts";
import { type Fuzzing, fuzz } from "./schemathesis.ts";

const SCHEMATHESIS = await pythonProgram("schemathesis", "4.32.5");
/** For a busy machine: a quiet one takes half a minute. */
const WITHIN = LONG ? 3_600_000 : 240_000;

const effort: Pick<Fuzzing, "examples" | "within" | "seed"> = LONG
  ? { examples: 1000, within: WITHIN, seed: randomInt(2 ** 31) }
  : { examples: 5, within: WITHIN };

/** What made-up requests do not get through to: upgrades, and what needs a code or a call that is there. */
const UNREACHED: ReadonlySet<string> = new Set([
  "GET /v1/device/ws",
  "GET /v1/devices/{device}/ws",
  "GET /ws",
  "GET /v1/account/ws",
  "GET /v1/devices/{device}/calls/{call}",
  "POST /v1/devices/{device}/calls/{call}/cancel",
  // No call waits for a person.
  "GET /v1/devices/{device}/approvals/{approval}",
  "POST /v1/devices/{device}/approvals/{approval}",
  "POST /v1/claim",
  // A link has a secret in it, and one to make needs a device that is there.
  "POST /v1/devices/{device}/file-links",
  "POST /v1/devices/{device}/port-links",
  "GET /f/{link}/{name}",
  // A file in the cloud store comes from a device that is there.
  "POST /v1/devices/{device}/cloud-files",
  "POST /v1/devices/{device}/cloud-copies",
  "GET /v1/cloud-files/{cloud_file}",
  "DELETE /v1/cloud-files/{cloud_file}",
  // A page needs its cookie and a proof.
  "POST /v1/session",
  // Passkeys and codes that there are none of, or that nobody can make up.
  "POST /v1/passkeys",
  "PATCH /v1/passkeys/{passkey}",
  "DELETE /v1/passkeys/{passkey}",
  "POST /v1/sign-in/passkey",
  "POST /v1/sign-in/recovery",
  "POST /v1/invites/accept",
  "POST /v1/shares/accept",
  // There is one account, and nothing is shared with it.
  "DELETE /v1/shares/{grant}",
  "DELETE /v1/accounts/{account}",
  // Nobody can make up the request of an app that is registered, nor a code.
  "GET /authorize",
  "POST /oauth/token",
  "POST /v1/oauth/requests",
  "POST /v1/oauth/consents",
  "POST /v1/oauth/refusals",
  // No issuer is configured.
  "POST /v1/sign-in/oidc/{issuer}",
  "GET /v1/sign-in/oidc/{issuer}/callback",
  "POST /v1/sign-in/oidc/{issuer}/finish",
  "GET /v1/pairings/{code}",
  "POST /v1/pairings/{code}/confirm",
  "POST /v1/pairings/{code}/poll",
  // Nobody can make up the path of a file.
  "GET /v1/devices/{device}/files/{path}",
  "PUT /v1/devices/{device}/files/{path}",
  "POST /v1/devices/{device}/uploads",
  "GET /v1/devices/{device}/uploads/{upload}",
  "POST /v1/devices/{device}/uploads/{upload}",
  "PATCH /v1/devices/{device}/uploads/{upload}",
  "DELETE /v1/devices/{device}/uploads/{upload}",
  // No program is connected as that device: nothing that a test needs is ended.
  "POST /v1/devices/{device}/commands",
  // Its tools have paths of their own here.
  "POST /v1/devices/{device}/tools/{tool}",
  "POST /v1/devices/{device}/tools/BashOutput",
]);

/** The same at the local server. */
const UNREACHED_HERE: ReadonlySet<string> = new Set([
  "GET /ws",
  "POST /calls/{call}/cancel",
  "POST /tools/{tool}",
  "POST /tools/BashOutput",
]);

const options = { timeout: WITHIN + 60_000, ...SCHEMATHESIS.options };

describe("fuzzed from its own description", options, () => {
  const fuzzed = (place: Place) =>
    fuzz(SCHEMATHESIS.program, { ...place, folder: temporaryFolder(), ...effort });

  test("the relay answers as it says", async () => {
    const place = await relayPlace();
    const { failures, operations } = await fuzzed(place);
    expect(failures).toBe("");
    expect(refusedAlways(operations).filter((operation) => !UNREACHED.has(operation))).toEqual([]);
  });

  test("the local server answers as it says", async () => {
    const place = await localPlace();
    const { failures, operations } = await fuzzed(place);
    expect(failures).toBe("");
    expect(refusedAlways(operations).filter((operation) => !UNREACHED_HERE.has(operation))).toEqual([]);
  });

  test("a server that answers otherwise is found out", async () => {
    const server = createServer((_, response) => response.end("not JSON"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const answer = { description: "said", content: { "application/json": { schema: { type: "object" } } } };
    const operation = { operationId: "lie", responses: { 200: answer } };
    const document = {
      openapi: "3.1.1",
      info: { title: "x", version: "1" },
      paths: { "/": { get: operation } },
    };
    const { failures } = await fuzzed({ url: `http://127.0.0.1:${port}`, token: "none", document });
    server.close();
    expect(failures).toContain("Missing Content-Type header");
  });
});

/** Operations that no made-up request got through to. */
function refusedAlways(operations: ReadonlyMap<string, boolean>): string[] {
  return [...operations].flatMap(([operation, succeeded]) => (succeeded ? [] : [operation])).sort();
}
