import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSecrets } from "../../scripts/start/secrets.ts";
import { temporaryFolder } from "../helpers/folder.ts";

test("secrets are made once, readable by their owner only", async () => {
  const folder = temporaryFolder();
  const made = await openSecrets(folder);
  expect(await openSecrets(folder)).toEqual(made);
  const { keys } = JSON.parse(made.relayKeys);
  expect(keys).toEqual([
    {
      kty: "OKP",
      crv: "Ed25519",
      x: expect.any(String),
      d: expect.any(String),
      kid: expect.any(String),
      alg: "EdDSA",
      use: "sig",
    },
  ]);
  for (const name of ["keys.json", "claim-secret"])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test.each([
  ["keys.json", "", /keys in .*keys\.json are damaged .*backup/],
  ["keys.json", '{"keys":[]}', /keys in .*keys\.json are damaged/],
  [
    "keys.json",
    '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"a","d":"b"}]}',
    /keys in .*keys\.json are damaged/,
  ],
  ["claim-secret", "short", /claim secret in .*claim-secret is damaged/],
])("a damaged %s (%j) is said, and left as it is", async (name, text, sentence) => {
  const folder = temporaryFolder();
  await openSecrets(folder);
  writeFileSync(join(folder, name), text);
  await expect(openSecrets(folder)).rejects.toThrow(sentence);
  expect(readFileSync(join(folder, name), "utf8")).toBe(text);
});
