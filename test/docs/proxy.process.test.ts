/** The guide's nginx, as it is printed there but for names, ports and files: a relay behind it, signed in and used. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { findPort } from "../../scripts/start/port.ts";
import { started } from "../../scripts/start/process.ts";
import { ROOT } from "../../scripts/tree.ts";
import { startedPairingSchema } from "../../shared/api.ts";
import { signedInSchema } from "../../shared/session-api.ts";
import { lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../helpers/folder.ts";
import { until } from "../helpers/launcher.ts";
import { LOCALHOST } from "../helpers/localhost.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { needs } from "../helpers/parts.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";

const NGINX = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx", "/usr/local/bin/nginx"].find(
  (place) => existsSync(place),
);
const NEEDS_NGINX = needs(NGINX !== undefined, "the guide's proxy needs nginx: apt-get install nginx-light");
const GUIDE = readFileSync(join(ROOT, "docs/guides/proxy.md"), "utf8");

/** What the guide prints for one proxy. */
function blockOf(language: string): string {
  return GUIDE.split(`\n\`\`\`${language}\n`)[1]?.split("\n```\n")[0] ?? "";
}

/** A key and a certificate for `localhost`, signed by itself. */
function makeCertificate(folder: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "relay.key"];
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...key, ...name, "-out", "relay.crt"], {
    cwd: folder,
    stdio: "pipe",
  });
}

/** The guide's block in the smallest configuration around it. */
function configuration(folder: string, port: number, relayPort: number): string {
  const block = blockOf("nginx");
  const listens = LOCALHOST.map(
    (address) => `listen ${address.includes(":") ? `[${address}]` : address}:${port} ssl;`,
  );
  const own = block
    .replace("listen 443 ssl;", listens.join("\n  "))
    .replace("server_name relay.example.org;", "server_name localhost;")
    .replaceAll("/etc/ssl/relay.example.org", join(folder, "relay"))
    .replaceAll("relay.example.org", `localhost:${port}`)
    .replace("127.0.0.1:8787", `127.0.0.1:${relayPort}`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (what) => `${what}_temp_path ${folder};`,
  );
  return `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
    events {} http { access_log off; ${temporary.join(" ")} ${own} }`;
}

describe("the relay behind the guide's nginx", { timeout: 60_000, ...NEEDS_NGINX }, () => {
  let folder: string;
  let relay: TestRelay;
  let machine: Machine;
  let url: string;
  let ca: string;
  let endProxy: () => Promise<void>;

  beforeAll(async () => {
    folder = makeFolder();
    makeCertificate(folder);
    ca = readFileSync(join(folder, "relay.crt"), "utf8");
    const { port } = await findPort(0);
    url = `https://localhost:${port}`;
    relay = await startRelay({ publicUrl: url });
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, relay.port));
    const nginx = spawn(NGINX ?? "nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const child = await started(nginx);
    endProxy = () => child.stop(2000);
    await until("nginx answers", () =>
      ask("/v1/health").then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    machine = await connectMachine(relay);
  });
  afterAll(async () => {
    await machine?.agent.stop();
    await endProxy?.();
    await relay?.stop();
    removeFolder(folder);
  });

  interface Asked {
    status: number;
    headers: NodeJS.Dict<string | string[]>;
    text: string;
  }

  function ask(path: string, { method = "GET", headers = {}, body = "" } = {}): Promise<Asked> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${url}${path}`, { method, headers, ca, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => {
          text += part;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  async function signIn(): Promise<{ cookie: string; token: string }> {
    const [address, code] = (await relay.signInLink()).split("/#claim=");
    expect(address).toBe(url);
    const { kty, crv, x, y } = await exportJWK((await generateKeyPair("ES256")).publicKey);
    const claimed = await post("/v1/claim", { code, key: { kty, crv, x, y } }, { Origin: url });
    expect(claimed.status).toBe(200);
    const { access_token: token } = signedInSchema.parse(JSON.parse(claimed.text));
    return { cookie: claimed.headers["set-cookie"]?.[0] ?? "", token };
  }

  test("signs its owner in by a link at the public address, with a cookie for TLS alone", async () => {
    const { cookie, token } = await signIn();
    expect(cookie).toMatch(/; Secure$/);
    const own = { Authorization: `Bearer ${token}` };
    expect((await ask("/v1/account", { headers: own })).status).toBe(200);
    const refresh = (origin: string) =>
      post("/v1/session", {}, { Cookie: cookie.split(";")[0] ?? "", Origin: origin });
    expect((await refresh(url)).headers["dpop-nonce"]).toBeDefined();
    expect((await refresh(url)).status).toBe(401);
    expect((await refresh(url.replace("https", "http"))).status).toBe(403);
  });

  test("prints pairing links at the public address", async () => {
    const started = await post("/v1/logins", { name: "cli" });
    const { verification_uri } = startedPairingSchema.parse(JSON.parse(started.text));
    expect(verification_uri.startsWith(`${url}/#pair=`)).toBe(true);
  });

  test("passes bodies on that are as large as the relay takes", async () => {
    const headers = { Authorization: `Bearer ${await relay.token()}` };
    const answer = await post("/v1/tickets", { device: "x".repeat(4_000_000) }, headers);
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "application/problem+json"]);
  });

  test("connects a device and a caller by WebSocket", async () => {
    const home = join(temporaryFolder(), "second");
    mkdirSync(home);
    const env = { NODE_EXTRA_CA_CERTS: join(folder, "relay.crt") };
    const pair = startMatrx(["pair", "--relay", url, "--name", "second", "--yes", "--json"], { home, env });
    const { code, verification_uri } = await lineOf(pair, ({ status }) => status === "pending");
    expect(verification_uri).toBe(`${url}/#pair=${code}`);
    const { token } = await signIn();
    const confirmed = await post(`/v1/pairings/${code}/confirm`, {}, { Authorization: `Bearer ${token}` });
    const { device } = JSON.parse(confirmed.text);
    await new Promise((resolve) => pair.once("close", resolve));
    const up = startMatrx(["up", "--json"], { home, env });
    await lineOf(up, ({ state }) => state === "REGISTERED");

    const protocols = ["matrx.v1", `bearer.${await relay.token()}`];
    const socket = new WebSocket(`${url.replace("https", "wss")}/v1/devices/${device}/ws`, protocols, { ca });
    onTestFinished(() => socket.terminate());
    const answer = new Promise((resolve) =>
      socket.on("message", (data) => {
        const frame = JSON.parse(String(data));
        if (frame.type === "hello") socket.send(JSON.stringify({ id: "1", tool: "SystemInfo", input: {} }));
        else resolve(frame);
      }),
    );
    expect(await answer).toMatchObject({ id: "1", type: "success" });
    up.kill("SIGTERM");
    await new Promise((resolve) => up.once("close", resolve));
  });

  test("passes live output on as it comes", async () => {
    const go = join(folder, "go");
    const command = `echo one; until [ -e '${go}' ]; do sleep 0.05; done; echo two`;
    const headers = {
      Authorization: `Bearer ${await relay.token()}`,
      Accept: "text/event-stream",
      "Content-Type": "application/json",
    };
    const text = await new Promise<string>((resolve, reject) => {
      const path = `${url}/v1/devices/${machine.id}/tools/Bash`;
      const request = httpsRequest(path, { method: "POST", headers, ca, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          // It ends only because its first line was seen.
          if (text.includes('"data":"one')) writeFileSync(go, "");
        });
        response.on("end", () => resolve(text));
      });
      request.on("error", reject);
      request.end(JSON.stringify({ command }));
    });
    expect(text).toMatch(/event: output[\s\S]*event: result/);
  });

  test(
    "shows its page to a browser that follows the link, and runs a tool there",
    NEEDS_CHROMIUM,
    async () => {
      const browser = await startBrowser();
      onTestFinished(() => browser.close());
      const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
      await page.goto(await relay.signInLink());
      await page.getByRole("heading", { name: "Your machines" }).waitFor();
      expect(page.url()).toBe(`${url}/fleet`);
      await page.getByRole("link", { name: `Tools of ${machine.name}` }).click();
      await page.getByRole("link", { name: /^SystemInfo/ }).click();
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    },
  );

  test("tells strangers apart by the address that the proxy saw, whatever they write themselves", async () => {
    /** How many may begin to sign in before one is refused. */
    const letIn = async (headers: Record<string, string> = {}, most = 40) => {
      for (let count = 0; count < most; count++) {
        const { status } = await post("/v1/logins", { name: "stranger" }, headers);
        if (status === 429) return count;
        expect(status).toBe(201);
      }
      return most;
    };
    expect(await letIn()).toBeLessThan(40);
    // One more each twenty seconds, whoever asks.
    for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP"])
      expect(await letIn({ [name]: "203.0.113.1" }, 3), name).toBeLessThan(3);
    expect(await letIn({ Host: `localhost:${relay.port}` }, 3)).toBeLessThan(3);
    const here = await fetch(`${relay.url}/v1/logins`, { method: "POST", body: '{"name":"mine"}' });
    expect(here.status).toBe(201);
  });
});

test("the guide's files for other proxies lead the same name to the same port", () => {
  for (const language of ["caddy", "yaml"]) {
    const block = blockOf(language);
    expect([block.includes("relay.example.org"), block.includes("127.0.0.1:8787")]).toEqual([true, true]);
  }
});
