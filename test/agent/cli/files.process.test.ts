import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { readConfig, writeConfig } from "../../../agent/config/config.ts";
import { FolderRegistry } from "../../../agent/config/folder-registry.ts";
import { fingerprintOf, makeIdentity, readIdentity, writeIdentity } from "../../../agent/config/identity.ts";
import { PolicyFile } from "../../../agent/config/policy-file.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { lineOf, startMatrx } from "./matrx.ts";

const CONFIG = { relay: "https://relay.example", device_id: "box-0123456789", name: "box" };

function home() {
  const made = homeOf({ MATRX_HOME: temporaryFolder() });
  makeHome(made);
  return made;
}

test("configuration and key are written whole, for this user alone, and read again", () => {
  const place = home();
  const identity = makeIdentity();
  writeConfig(place, CONFIG);
  writeIdentity(place, identity);
  expect(readConfig(place)).toEqual(CONFIG);
  expect(readIdentity(place).publicKey).toBe(identity.publicKey);
  for (const name of ["config.json", "key"]) expect(statSync(join(place.config, name)).mode & 0o077).toBe(0);
  expect(readdirSync(place.config).sort()).toEqual(["config.json", "key"]);
});

test.each([
  ["{", "config.json: is not JSON"],
  [JSON.stringify({ ...CONFIG, relay: "relay.example" }), "config.json: relay: must be an http(s) URL"],
  [
    JSON.stringify({ ...CONFIG, relay: "http://relay.example" }),
    "config.json: relay: must begin with https://",
  ],
  [JSON.stringify({ ...CONFIG, log_level: "loud" }), "config.json: log_level: "],
  [JSON.stringify({ ...CONFIG, relais: 1 }), "config.json: relais: "],
  [JSON.stringify({ relay: CONFIG.relay, name: "box" }), "config.json: device_id: "],
])("a wrong configuration names file and key (%#)", (text, message) => {
  const place = home();
  writeFileSync(place.configFile, text);
  expect(() => readConfig(place)).toThrow(message);
});

test.each(["http://localhost:8787", "http://127.0.0.1:1", "http://[::1]:8787/", "https://relay.example/"])(
  "%s is an address",
  (relay) => {
    const place = home();
    writeFileSync(place.configFile, JSON.stringify({ ...CONFIG, relay }));
    expect(readConfig(place)?.relay).toBe(relay.replace(/\/$/, ""));
  },
);

test("a damaged key says what to do", () => {
  const place = home();
  expect(() => readIdentity(place)).toThrow(/There is no key/);
  writeFileSync(place.keyFile, "nonsense");
  expect(() => readIdentity(place)).toThrow(/is not an Ed25519 key/);
});

test("the fingerprint is the first 16 bytes of the key's hash, in groups", () => {
  expect(fingerprintOf("A".repeat(43))).toBe("6668 7aad f862 bd77 6c8f c18b 8e9f 8e20");
});

test("without a policy file nothing is limited; a damaged one closes everything, and is not touched", () => {
  const place = home();
  const policy = new PolicyFile(place);
  expect(policy.current()).toEqual({});
  for (const text of ["{", '{"allowed_paths":"/home"}', '{"allowed_path":[]}']) {
    writeFileSync(place.policyFile, text);
    policy.reload();
    expect(() => policy.current()).toThrow(/All calls are refused.*policy\.json/);
    expect(readFileSync(place.policyFile, "utf8")).toBe(text);
  }
  writeFileSync(place.policyFile, '{"allowed_paths":["/home"]}');
  policy.reload();
  expect(policy.current()).toEqual({ allowed_paths: ["/home"] });
});

test.each<[string, RegExp, (file: string) => void]>([
  ["truncated", /is not JSON/, (file) => writeFileSync(file, '{"allowed_tools":["Re')],
  ["empty", /is not JSON/, (file) => writeFileSync(file, "")],
  ["a list", /must be an object/, (file) => writeFileSync(file, "[]")],
  ["null", /must be an object/, (file) => writeFileSync(file, "null")],
  ["of a newer version", /unlimited/, (file) => writeFileSync(file, '{"unlimited":false}')],
  [
    "with a bad glob",
    /"secrets" must be a full path/,
    (file) => writeFileSync(file, '{"denied_paths":["secrets"]}'),
  ],
  ["with a misspelt rule", /tool/, (file) => writeFileSync(file, '{"ask":[{"tool":"Bash"}]}')],
  ["huge", /more than 1048576 bytes/, (file) => writeFileSync(file, `{}${" ".repeat(2 ** 20)}`)],
  ["a folder", /is not a file/, (file) => mkdirSync(file)],
  ["a pipe", /is not a file/, (file) => void execFileSync("mkfifo", [file])],
  ["a link to nothing", /link to nothing/, (file) => symlinkSync("elsewhere.json", file)],
  ["a link to itself", /policy\.json/, (file) => symlinkSync("policy.json", file)],
])("a policy file that is %s closes everything until it is mended", (_what, why, damage) => {
  const place = home();
  writeFileSync(place.policyFile, "{}");
  const policy = new PolicyFile(place);
  expect(policy.current()).toEqual({});
  rmSync(place.policyFile);
  damage(place.policyFile);
  policy.reload();
  expect(() => policy.current()).toThrow(/All calls are refused because the device's policy is damaged/);
  expect(() => policy.current()).toThrow(why);
  expect(() => new PolicyFile(place).current()).toThrow(why);
  rmSync(place.policyFile, { recursive: true });
  policy.reload();
  expect(policy.current()).toEqual({});
});

test("a home that is in no usual place is noted where every agent of this machine looks; that of npm start is not", async () => {
  const person = temporaryFolder();
  const folders = () => new FolderRegistry(join(person, ".local/share/matrx/folders")).list();
  const serve = async (home: string, MATRX_PROTECTED: string) => {
    const child = startMatrx(["serve", "--port", "0", "--json"], {
      ...{ home, env: { HOME: person, MATRX_PROTECTED } },
    });
    await lineOf(child, ({ url }) => url !== undefined);
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const data = temporaryFolder();
  await serve(join(data, "agent"), data);
  expect(folders()).toEqual([]);
  const elsewhere = temporaryFolder();
  await serve(elsewhere, data);
  expect(folders()).toMatchObject([{ folder: elsewhere, kind: "data" }]);
});
