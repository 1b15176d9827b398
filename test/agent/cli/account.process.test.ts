/** A person's commands about the account, its devices and its tokens: real relay, real agent. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { homeOf } from "../../../agent/config/app-dirs.ts";
import { createdDeviceSchema } from "../../../shared/api.ts";
import { issuedTokensSchema, oauthErrorSchema } from "../../../shared/oauth-api.ts";
import { createdTokenSchema } from "../../../shared/token-api.ts";
import { type Rig, startRig } from "../../e2e/rig.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../../helpers/folder.ts";
import { startOauthApp } from "../../helpers/oauth-app.ts";
import { allowApp } from "../../helpers/owner-consent.ts";
import { confirmed } from "./desk.ts";
import { endOf, lineOf, runMatrx, startMatrx } from "./matrx.ts";

let rig: Rig;
let home: string;
beforeAll(async () => {
  rig = await startRig();
  home = makeFolder();
});
afterAll(async () => {
  if (home) removeFolder(home);
  await rig?.stop();
});

/** Each test goes on from where the one before left off: somebody signs in, works, and signs out. */
const matrx = (args: string[], env: Record<string, string> = {}) => runMatrx(args, { home, env });
const json = async (args: string[]) => JSON.parse((await matrx([...args, "--json"])).stdout);

test("login and whoami say who one is", { timeout: 60_000 }, async () => {
  expect((await confirmed(rig.relay, home, ["login", "--name", "desk"])).code).toBe(0);
  expect((await matrx(["whoami"])).stdout).toMatch(/^owner at http:.*\nby the login "desk" until \d{4}-/);
  const who = { relay: rig.relay.url, account: "owner", kind: "cli", person: true };
  expect(await json(["whoami"])).toMatchObject(who);
});

test("tokens are created, listed and revoked; a revoked one says what to do", {
  timeout: 120_000,
}, async () => {
  const file = join(home, "script");
  const made = await matrx([
    "token",
    "create",
    "helper",
    "--path",
    "~/notes",
    "--effects",
    "read",
    "--device",
    rig.device.slice(0, 4),
    "--save",
    file,
  ]);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("helper may read in ~/notes on") });
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(/^Authorization: Bearer \S+\n$/);
  const printed = await matrx(["token", "create", "backup", "--script", "--days", "7"]);
  expect(printed.stdout).toMatch(/^[\w.-]+\n$/);
  expect(printed.stderr).toContain("Never give it to an AI");
  const nowhere = await matrx(["token", "create", "nowhere"]);
  expect([nowhere.code, nowhere.stderr]).toEqual([64, expect.stringContaining("--path")]);
  const created = createdTokenSchema.parse(await json(["token", "create", "twin", "--any-path"]));
  expect(created).toMatchObject({ credential: "ai", devices: null, paths: null });

  const { tokens } = await json(["token", "list"]);
  const helper = tokens.find(({ name }: { name: string }) => name === "helper");
  expect(helper).toMatchObject({ effects: ["read"], devices: [rig.device], credential: "ai" });
  expect((await matrx(["token", "list"])).stdout).toMatch(/^helper +AI grant +may read in ~\/notes on /m);

  const withToken = ["tools", rig.device, "--relay", rig.relay.url, "--token-file", file];
  expect((await matrx(withToken)).code).toBe(0);
  expect(await json(["token", "revoke", "helper"])).toMatchObject({ status: "revoked", id: helper.id });
  const refused = await matrx(withToken);
  expect([refused.code, refused.stderr]).toEqual([77, expect.stringContaining(file)]);

  await matrx(["token", "create", "twin", "--any-path"]);
  const ambiguous = await matrx(["token", "revoke", "twin"]);
  expect([ambiguous.code, ambiguous.stderr]).toEqual([66, expect.stringContaining(created.id)]);
  expect((await matrx(["token", "create", "x", "--any-path", "--days", "many"])).code).toBe(64);
});

test("an AI app that was let in is listed, and revoked", { timeout: 60_000 }, async () => {
  await using app = await startOauthApp(rig.relay.url);
  const id = await app.register("Some assistant");
  const grant = { name: "assistant", devices: [rig.device], paths: ["~/notes"], effects: ["read" as const] };
  const { searchParams } = await allowApp(rig.relay, app.address(id), grant);
  const code = searchParams.get("code") ?? "";
  const { refresh_token } = issuedTokensSchema.parse(await (await app.trade(id, code)).json());

  expect((await matrx(["token", "list"])).stdout).toMatch(/^assistant +AI app +may read in ~\/notes on /m);
  expect((await matrx(["token", "show", "assistant"])).stdout).toContain(
    'connected by OAuth: "Some assistant", not verified',
  );
  expect((await matrx(["token", "revoke", "assistant"])).code).toBe(0);
  const refused = await app.refresh(id, refresh_token);
  expect(oauthErrorSchema.parse(await refused.json()).error).toBe("invalid_grant");
});

test("a token is narrowed and widened, and a device is tagged for it", { timeout: 120_000 }, async () => {
  const ask = ["--ask", "write", "Bash=git push*", "--deny", "**/secret"];
  await matrx([
    "token",
    "create",
    "builder",
    "--tag",
    "work",
    "--path",
    "~/src",
    ...ask,
    "--tool",
    "Read",
    "Bash",
  ]);
  expect((await matrx(["token", "show", "builder"])).stdout).toMatch(
    /^builder \(grant_\w+\): AI grant\n {2}may .+ in ~\/src on every device tagged work; .+ where git push\* fits; .+\n.+; not used yet\n$/,
  );
  expect((await matrx(["devices", "tag", rig.device, "work", "linux"])).stdout).toContain(
    "is tagged work, linux",
  );
  expect((await matrx(["devices", "tag", rig.device, "linux", "--remove"])).stdout).toContain(
    "is tagged work (",
  );
  expect(await json(["token", "change", "builder", "--family", "files", "system"])).toMatchObject({
    tool_families: ["files", "system"],
    tools: ["Read", "Bash"],
  });
  expect((await matrx(["token", "change", "builder", "--family", "webcam"])).stderr).toContain("terminals");
  expect(
    await json([
      "token",
      "change",
      "builder",
      "--effects",
      "read",
      "--no-ask",
      "--lift",
      "deny",
      "tools",
      "families",
    ]),
  ).toMatchObject({
    tool_families: null,
    version: expect.any(Number),
    effects: ["read"],
    ask: [],
    denied_paths: null,
    tools: null,
    tags: ["work"],
    paths: ["~/src"],
  });
  expect((await matrx(["token", "change", "builder"])).code).toBe(64);
  expect((await matrx(["token", "revoke", "builder"])).code).toBe(0);
});

test("a device is chosen, renamed and removed", { timeout: 120_000 }, async () => {
  const owner = await rig.relay.signIn();
  await rig.relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name: "shed" });
  const unclear = await matrx(["tools"]);
  expect([unclear.code, unclear.stderr]).toEqual([68, expect.stringContaining("matrx use")]);
  expect((await matrx(["use", rig.device])).code).toBe(0);
  expect((await matrx(["tools", "bash"])).stdout).toMatch(/^Bash \(execute\)/);
  expect((await matrx(["call", "systeminfo"])).code).toBe(0);
  expect((await matrx(["use"], { MATRX_DEVICE: "shed" })).stdout).toMatch(/^shed /);
  expect((await matrx(["complete", "--", "call"], { MATRX_DEVICE: rig.device })).stdout).toMatch(
    /^SystemInfo$/m,
  );

  expect(await json(["devices", "rename", "shed", "barn"])).toMatchObject({ name: "barn" });
  const silent = await matrx(["devices", "remove", "barn"]);
  expect([silent.code, silent.stderr]).toEqual([64, expect.stringContaining("--yes")]);
  expect((await matrx(["devices", "remove", "barn", "--yes"])).code).toBe(0);
  const { devices } = await json(["devices"]);
  expect(devices).toHaveLength(1);
  await matrx(["use", "--clear"]);
  expect(await json(["use"])).toMatchObject({ device: rig.device, by: "only" });
});

test("a token may not do what takes a person, and is told so", { timeout: 60_000 }, async () => {
  const file = join(home, "full");
  writeFileSync(file, rig.token, { mode: 0o600 });
  const own = ["--relay", rig.relay.url, "--token-file", file];
  for (const args of [
    ["token", "list"],
    ["devices", "rename", rig.device, "mine"],
    ["devices", "remove", rig.device, "--yes"],
  ])
    expect((await matrx([...args, ...own])).code, args.join(" ")).toBe(77);
  expect((await matrx(["whoami", ...own])).stdout).toContain("can't manage tokens");
});

test("who calls too often is told how long to wait, also after the relay was restarted", {
  timeout: 120_000,
}, async () => {
  const setPolicy = async (policy: unknown) =>
    rig.relay.request(await rig.relay.signIn(), `PUT /v1/devices/${rig.device}/policy`, z.unknown(), policy);
  const file = join(home, "hasty");
  writeFileSync(file, await rig.relay.token(), { mode: 0o600 });
  const call = (...way: string[]) =>
    matrx(["call", rig.device, "SystemInfo", "--relay", rig.relay.url, "--token-file", file, ...way]);
  await setPolicy({ rates: { calls_per_minute: 1 } });
  expect((await call()).code).toBe(0);
  const refused = { code: 75, stderr: expect.stringMatching(/^Try again in \d+ seconds?; the owner/m) };
  expect(await call()).toMatchObject(refused);
  await rig.restartRelay(() => undefined);
  await expect.poll(() => rig.isOnline()).toBe(true);
  expect(await call("--rest")).toMatchObject(refused);
  await setPolicy({});
  expect((await call()).code).toBe(0);
});

test("a new machine is paired by up, and unpaired again", { timeout: 120_000 }, async () => {
  const second = temporaryFolder();
  const up = startMatrx(["up", "--relay", rig.relay.url, "--name", "second", "--yes", "--json"], {
    home: second,
  });
  const ended = endOf(up);
  const { code } = await lineOf(up, ({ status }) => status === "pending");
  const owner = await rig.relay.signIn();
  await rig.relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  await lineOf(up, ({ state }) => state === "REGISTERED");
  expect((await json(["devices"])).devices).toHaveLength(2);
  up.kill("SIGINT");
  expect((await ended).code).toBe(0);

  const plain = startMatrx(["up"], { home: second });
  const stopped = endOf(plain);
  await new Promise((resolve) => plain.stdout?.once("data", resolve));
  plain.kill("SIGINT");
  expect(await stopped).toMatchObject({
    code: 0,
    stderr: "",
    stdout: `Connected as second at ${rig.relay.url}.\n`,
  });

  // Nobody is signed in there: the relay keeps it until somebody removes it.
  const alone = await runMatrx(["unpair", "--yes"], { home: second });
  expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining("may still list it")]);
  expect(existsSync(homeOf({ MATRX_HOME: second }).keyFile)).toBe(false);
  expect((await runMatrx(["unpair", "--yes"], { home: second })).stdout).toContain("not paired");
  expect((await matrx(["devices", "remove", "second", "--yes"])).code).toBe(0);
});

test("open prints the page's address where there is no browser", async () => {
  const { stdout } = await matrx(["open", "--json"], { DISPLAY: "", WAYLAND_DISPLAY: "" });
  expect(JSON.parse(stdout)).toEqual({ url: `${rig.relay.url}/`, opened: false });
});

test("a login that was revoked elsewhere says to sign in; logout ends it here and there", {
  timeout: 60_000,
}, async () => {
  const other = temporaryFolder();
  onTestFinished(() => removeFolder(other));
  await confirmed(rig.relay, other, ["login", "--name", "lost"]);
  expect((await matrx(["token", "revoke", "lost"])).code).toBe(0);
  for (const args of [["devices"], ["call", rig.device, "bash", "command=true"]]) {
    const { code, stderr } = await runMatrx(args, { home: other });
    expect([code, stderr]).toEqual([77, expect.stringContaining(`matrx login --relay ${rig.relay.url}`)]);
  }
  expect((await runMatrx(["logout"], { home: other })).code).toBe(0);

  const logins = async () => {
    const { tokens } = await json(["token", "list"]);
    return tokens.filter(({ kind }: { kind: string }) => kind === "cli").length;
  };
  const before = await logins();
  expect((await matrx(["logout"])).stdout).toBe(`Signed out of ${rig.relay.url}.\n`);
  expect(existsSync(homeOf({ MATRX_HOME: home }).credentialsFile)).toBe(false);
  await confirmed(rig.relay, home, ["login"]);
  expect(await logins()).toBe(before);
});
