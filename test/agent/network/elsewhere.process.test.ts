/** A relay that is reached only through a proxy, and whose certificate a CA of one's own signed. */
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Authority, makeAuthority } from "../../helpers/certificates.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { startRelay, type TestRelay } from "../../helpers/relay.ts";
import { type Ended, endOf, lineOf, runMatrx, startMatrx } from "../cli/matrx.ts";
import { type ConnectProxy, type Listening, startConnectProxy, startTlsFront } from "./connect-proxy.ts";

/** No name server knows it: only the proxy leads there. */
const RELAY = "https://relay.invalid";
const LOGIN = "ann:s3cret!";
const DEAD = "http://127.0.0.1:9";

let folder: string;
let authority: Authority;
let relay: TestRelay;
let front: Listening;
let proxy: ConnectProxy;
let home: string;
let token: string;
beforeAll(async () => {
  folder = makeFolder();
  home = makeFolder();
  authority = makeAuthority(folder);
  relay = await startRelay({ publicUrl: RELAY });
  token = join(folder, "token");
  writeFileSync(token, await relay.token(), { mode: 0o600 });
  front = await startTlsFront(authority.sign("relay.invalid", "localhost"), relay.port);
  proxy = await startConnectProxy({ leadsTo: front.port, login: LOGIN });
});
afterAll(async () => {
  await proxy?.close();
  await front?.close();
  await relay?.stop();
  for (const place of [folder, home]) removeFolder(place);
});

/** What a machine behind the proxy has in its environment. */
const behind = () => ({
  HTTPS_PROXY: `http://ann:s3cret%21@127.0.0.1:${proxy.port}`,
  NODE_EXTRA_CA_CERTS: authority.file,
  MATRX_RELAY: RELAY,
  MATRX_TOKEN_FILE: token,
});

const devices = (env: Record<string, string>): Promise<Ended> =>
  runMatrx(["devices", "--json"], { home, env: { MATRX_RELAY: RELAY, MATRX_TOKEN_FILE: token, ...env } });

test("a machine behind a proxy joins, is called and gets files, and no log tells the password", async () => {
  const env = behind();
  const pair = startMatrx(["pair", "--name", "den", "--yes", "--json"], { home, env });
  const paired = endOf(pair);
  const { code } = await lineOf(pair, ({ status }) => status === "pending");
  await relay.request(await relay.signIn(), `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  expect(await paired).toMatchObject({ code: 0 });

  const log = join(folder, "up.log");
  const up = startMatrx(["up", "--json", "--log-file", log, "--log-level", "trace"], { home, env });
  const ended = endOf(up);
  await lineOf(up, ({ state }) => state === "REGISTERED");

  const called = await runMatrx(["call", "den", "SystemInfo"], { home, env });
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("hostname:") });
  const before = proxy.asked.length;
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  writeFileSync(from, Buffer.alloc(1_000_000, "den"));
  const copied = await runMatrx(["cp", from, `den:${to}`], { home, env });
  expect(copied).toMatchObject({ code: 0 });
  expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
  // The caller's request and its socket, and the agent's second socket.
  expect(proxy.asked.length - before).toBeGreaterThanOrEqual(3);
  expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["relay.invalid:443"]));
  expect(new Set(proxy.asked.map(({ login }) => login))).toEqual(new Set([LOGIN]));

  const status = await runMatrx(["status", "den", "--json"], { home, env });
  expect(status.stdout).toContain(`http://127.0.0.1:${proxy.port} (HTTPS_PROXY)`);
  const shown = commandLines().filter((line) => line.includes("s3cret"));
  up.kill("SIGTERM");
  const { stdout, stderr } = await ended;
  const told = [called.stderr, copied.stderr, status.stdout, stdout, stderr, readFileSync(log, "utf8")];
  expect([shown, told.filter((text) => text.includes("s3cret"))]).toEqual([[], []]);
});

/** Of all processes, as `ps` shows them. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}

test("a wrong password is told, without it, and the proxy's own silence too", async () => {
  const refused = await devices({ ...behind(), HTTPS_PROXY: `http://ann:wr0ng@127.0.0.1:${proxy.port}` });
  expect(refused.stdout).toMatch(
    /answered 407: it doesn't accept the user and the password.*Check HTTPS_PROXY/,
  );
  expect(`${refused.stdout}${refused.stderr}`).not.toContain("wr0ng");
  const dead = await devices({ ...behind(), HTTPS_PROXY: DEAD });
  expect(dead.stdout).toMatch(/The proxy at http:\/\/127.0.0.1:9 \(HTTPS_PROXY\) can't be reached/);
  const socks = await devices({ ...behind(), HTTPS_PROXY: "", ALL_PROXY: "socks5://127.0.0.1:9" });
  expect(socks.stdout).toMatch(/ALL_PROXY names a proxy of the kind socks5/);
});

test("a proxy that speaks TLS itself is used, by the lower-case name too", async () => {
  const secure = await startConnectProxy({
    leadsTo: front.port,
    certificate: authority.sign("localhost"),
  });
  const env = { NODE_EXTRA_CA_CERTS: authority.file, all_proxy: `https://localhost:${secure.port}` };
  const listed = await devices(env);
  await secure.close();
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(secure.asked).toEqual([{ target: "relay.invalid:443", login: undefined }]);
});

test("a relay on this machine is reached directly, whatever the environment says", async () => {
  const all = { HTTPS_PROXY: DEAD, HTTP_PROXY: DEAD, ALL_PROXY: DEAD, NODE_USE_ENV_PROXY: "1" };
  expect(await devices({ ...all, MATRX_RELAY: relay.url })).toMatchObject({ code: 0, stderr: "" });
});

describe("a certificate by a CA of one's own", () => {
  const SERVES_ANOTHER_NAME = { stdout: expect.stringContaining("doesn't serve the host localhost") };
  const directly = (env: Record<string, string>) =>
    devices({ MATRX_RELAY: `https://localhost:${front.port}`, ...env });

  test("is trusted where the system's store has the CA, by requests and by sockets", async () => {
    const system = { SSL_CERT_FILE: authority.file };
    expect(await directly(system)).toMatchObject(SERVES_ANOTHER_NAME);
    const { NODE_EXTRA_CA_CERTS: _, ...throughProxy } = behind();
    expect(await devices({ ...throughProxy, ...system })).toMatchObject({ code: 0, stderr: "" });
    const up = startMatrx(["up", "--json"], { home, env: { ...throughProxy, ...system } });
    await lineOf(up, ({ state }) => state === "REGISTERED");
    up.kill("SIGTERM");
    await once(up, "close");
  });

  test("is refused otherwise, with a hint that can be followed", async () => {
    const refused = await directly({});
    expect(refused).toMatchObject({ code: 69 });
    expect(refused.stdout).toMatch(/doesn't trust the authority that signed.*NODE_EXTRA_CA_CERTS/);
    expect(await directly({ NODE_EXTRA_CA_CERTS: authority.file })).toMatchObject(SERVES_ANOTHER_NAME);
  });
});
