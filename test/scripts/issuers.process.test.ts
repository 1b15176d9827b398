import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeSecretsFile } from "../../scripts/deploy/secrets.ts";
import { openIssuers } from "../../scripts/start/issuers.ts";
import { startRelay } from "../../scripts/start/relay.ts";
import { temporaryFolder } from "../helpers/folder.ts";

const ISSUERS = JSON.stringify([
  {
    ...{ id: "home", name: "Our home", issuer: "https://id.example", client_id: "matrx" },
    ...{ client_secret: "hunter2", accounts: "open" },
  },
]);

test("without a file nobody signs in by an issuer", () => {
  expect(openIssuers(temporaryFolder())).toBeUndefined();
});

test("the owner's file is closed to other users", () => {
  const folder = temporaryFolder();
  const file = join(folder, "oidc.json");
  writeFileSync(file, ISSUERS);
  chmodSync(file, 0o644);
  expect(openIssuers(folder)).toBe(ISSUERS);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each([
  ["not JSON", '[{"client_secret":"hunter2"', /it is not JSON/],
  ["not a list", '{"client_secret":"hunter2"}', /must be a list/],
  ["a mistake", ISSUERS.replace("https", "http"), /0\.issuer: must be an https address/],
])("a file with %s keeps the relay from starting, and is left as it is", async (_, text, sentence) => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, "oidc.json");
  writeFileSync(file, text);
  const start = startRelay({ dataDir, port: 0 });
  await expect(start).rejects.toThrow(sentence);
  await expect(start).rejects.toThrow(/oidc\.json .*docs\/guides\/sign-in\.md/s);
  await expect(start).rejects.toThrow(expect.not.stringContaining("hunter2"));
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a deployment uploads issuers with the secrets, or alone where those were made elsewhere", () => {
  const folder = temporaryFolder();
  const secrets = { relayKeys: "keys", claimSecret: "claim" };
  const uploaded = (file: string | undefined) => JSON.parse(readFileSync(file ?? "", "utf8"));
  expect(uploaded(writeSecretsFile(folder, { secrets, issuers: ISSUERS }))).toEqual({
    RELAY_KEYS: "keys",
    CLAIM_SECRET: "claim",
    OIDC_ISSUERS: ISSUERS,
  });
  expect(uploaded(writeSecretsFile(folder, { secrets }))).not.toHaveProperty("OIDC_ISSUERS");
  const alone = writeSecretsFile(folder, { issuers: ISSUERS });
  expect(uploaded(alone)).toEqual({ OIDC_ISSUERS: ISSUERS });
  expect(statSync(alone ?? "").mode & 0o777).toBe(0o600);
  expect(existsSync(join(folder, "keys.json"))).toBe(false);
});
