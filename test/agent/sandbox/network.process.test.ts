/** Commands whose grant names domains reach those, and nothing else. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { findProgram } from "../../../agent/platform/run-program.ts";
import { type DomainProxyOptions, startDomainProxy } from "../../../agent/sandbox/domain-proxy.ts";
import { isPublicAddress } from "../../../agent/sandbox/public-address.ts";
import { systemPaths } from "../../../agent/sandbox/system-paths.ts";
import { ROOT } from "../../../scripts/tree.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";
import { runningCommands } from "./scene.ts";

describe("a command whose grant names a domain", NEEDS_SANDBOX, () => {
  it("reaches it through the proxy, by requests and by tunnels", async () => {
    const port = await startSite();
    const { run } = await openBench([`allowed.test:${port}`]);
    expect(await run(`curl -sS http://allowed.test:${port}/page`)).toBe("allowed.test /page\n");
    expect(await run(`curl -sS --proxytunnel http://allowed.test:${port}/page`)).toBe("allowed.test /page\n");
    expect(await run(`curl -sS -d sent http://allowed.test:${port}/page`)).toBe("allowed.test /page sent\n");
  });

  it("reaches no other domain, port or address, also not around the proxy", async () => {
    const port = await startSite();
    const { run } = await openBench([`allowed.test:${port}`, "*.other.test"]);
    for (const url of [
      `http://other.test:${port}/`,
      `http://allowed.test:${port + 1}/`,
      `http://127.0.0.1:${port}/`,
    ]) {
      expect(await run(`curl -sS --noproxy "" ${url}`)).toMatch(
        /^Matrx: this token's commands may not reach /,
      );
      expect(await run(`curl -sS --noproxy "" --proxytunnel ${url}`)).toMatch(/403/);
      expect(await run(`curl -sS --noproxy "*" ${url}`)).toMatch(/curl: \((?:6|7)\)/);
    }
  });

  it("reaches no socket of another program, nor one that appears while it runs", async () => {
    const { run, bench } = await openBench(["allowed.test"]);
    await listenAt(bench.at("before.sock"));
    const connect = (name: string) =>
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("${name}"); print(s.recv(9))'`;
    expect(await run(connect("before.sock"))).toMatch(/PermissionError/);
    const late = run(`touch started; until [ -S late.sock ]; do sleep 0.01; done; ${connect("late.sock")}`);
    await expect.poll(() => existsSync(bench.at("started"))).toBe(true);
    await listenAt(bench.at("late.sock"));
    expect(await late).toMatch(/PermissionError/);
  });

  it("keeps its exit code, its directory and its signals", async () => {
    const { run } = await openBench(["allowed.test"]);
    expect(await run("mkdir sub; cd sub; trap 'echo bye' TERM; kill $$; exit 7")).toBe("bye\n[Exit code 7]");
    expect(await run("basename $PWD")).toBe("sub\n");
  });
});

describe("commands of one session", NEEDS_SANDBOX, () => {
  const serve = `node -e 'require("http").createServer((_, to) => to.end("served")).listen(8123, "127.0.0.1")'`;
  const ask = "curl -sS http://127.0.0.1:8123/";

  it.each([
    ["no domains", []],
    ["a domain", ["allowed.test"]],
  ])("share a network, which nobody else is in, with %s", async (_what, network) => {
    const { run, bench, grant, session } = await openBench(network);
    await run(serve, { run_in_background: true });
    expect(await run(`until ${ask} 2> /dev/null; do sleep 0.05; done`)).toBe("served");
    const typed = await bench.call("TerminalExecute", { command: `${ask} 2>&1` }, { grant, session });
    expect(typed.output).toBe("served");
    const other = await bench.call(
      "Bash",
      { command: `${ask} 2>&1` },
      { grant, session: bench.newSession(grant) },
    );
    expect(other.output).toMatch(/curl: \(7\)/);
    expect(await run("cat /proc/net/dev | grep -c :")).toBe("1\n");
    await expect(fetch("http://127.0.0.1:8123/")).rejects.toThrow();
  });

  it("keep it when the agent has ended, and have no way to domains then", async () => {
    const port = await startSite();
    const { run, bench } = await openBench([`allowed.test:${port}`]);
    const page = `curl -sS -m 5 http://allowed.test:${port}/page > page 2>&1`;
    const job = run(`echo > begun; until [ -e go ]; do sleep 0.02; done; ${page}; cat page`);
    await expect.poll(() => existsSync(bench.at("begun"))).toBe(true);
    await bench.sandbox.close();
    writeFileSync(bench.at("go"), "");
    // Refused, or reset: bubblewrap ends a moment before its forwarder.
    expect(await job).toMatch(/curl: \((?:7|56)\)/);
    expect(await run(`${page}; cat page`)).toBe("allowed.test /page\n");
  });
});

it("leaves no forwarder when the agent is killed", NEEDS_SANDBOX, async () => {
  const socket = path.join(temporaryFolder(), "proxy");
  await listenAt(socket);
  const programs = {
    system: systemPaths(),
    bwrap: "bwrap",
    nsenter: "nsenter",
    socat: findProgram("socat", process.env),
  };
  const agent = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { makeNetwork } from ${JSON.stringify(path.join(ROOT, "agent/sandbox/network.ts"))};
     await makeNetwork(${JSON.stringify(programs)}, ${JSON.stringify(socket)});
     console.log("made");
     setInterval(() => undefined, 60_000);`,
  ]);
  onTestFinished(() => void agent.kill("SIGKILL"));
  await once(agent.stdout, "data");
  const forwarders = () =>
    runningCommands().filter((one) => one.startsWith("bwrap ") && one.includes(socket));
  expect(forwarders()).not.toEqual([]);
  agent.kill("SIGKILL");
  await expect.poll(forwarders).toEqual([]);
});

describe("a proxy for domains", () => {
  it("does not connect to this machine or its own network, whatever a name resolves to", async () => {
    const port = await startSite();
    const ask = await openProxy([`allowed.test:${port}`], {
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    expect(await ask(`http://allowed.test:${port}/`)).toBe(502);
  });

  it.each([
    ["http://allowed.test/", 502],
    ["http://ALLOWED.test./", 502],
    ["http://a.b.allowed.org/", 502],
    ["http://allowed.org/", 403],
    ["http://notallowed.org/", 403],
    ["http://allowed.test:22/", 403],
    ["http://allowed.test@elsewhere.test/", 403],
    ["http://elsewhere.test/allowed.test", 403],
    ["http://xn--bcher-kva.test/", 502],
    ["http://elsewhere.test%2f.allowed.org/", 403],
    ["http://..allowed.org/", 403],
    ["http://[::1]/", 403],
    ["http://2130706433/", 403],
    ["ftp://allowed.test/", 403],
    ["/local", 403],
  ])("answers %s with %i", async (url, status) => {
    // Names that are allowed are looked up, and nothing is found.
    const ask = await openProxy(["allowed.test", "*.allowed.org", "b\u00fccher.test"], {
      resolve: async () => [],
    });
    expect(await ask(url)).toBe(status);
  });

  it.each([
    ["a.allowed.org:443", 502],
    ["allowed.test.:443", 502],
    ["elsewhere.test\0.allowed.org:443", 400],
    ["elsewhere.test/.allowed.org:443", 403],
    ["elsewhere.test%00.allowed.org:443", 403],
    ["elsewhere.test#.allowed.org:443", 400],
    ["elsewhere.test:443@a.allowed.org:443", 403],
    [".allowed.org:443", 403],
    ["a.allowed.org:443:443", 403],
    ["allowed.test:22", 403],
  ])("answers a tunnel to %j with %i", async (authority, status) => {
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      return [];
    };
    const socketPath = await proxyAt(["allowed.test", "*.allowed.org"], { resolve });
    const answer = await text(connect(socketPath).end(`CONNECT ${authority} HTTP/1.1\r\nhost: x\r\n\r\n`));
    // A connection that can't be made ends without an answer.
    expect(answer === "" ? (looked.length > 0 ? 502 : 400) : Number(answer.split(" ")[1])).toBe(status);
    expect(looked).toEqual(status === 502 ? [authority.replace(/:443$/, "")] : []);
  });

  it.each([
    ["93.184.216.34", true],
    ["2606:4700::1111", true],
    ["127.0.0.1", false],
    ["10.1.2.3", false],
    ["169.254.169.254", false],
    ["100.64.0.1", false],
    ["192.168.1.1", false],
    ["::1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:10.0.0.1", false],
    ["fe80::1", false],
    ["fd00::1", false],
  ])("takes %s for public: %s", (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});

/** A site that says how it was reached. */
async function startSite(): Promise<number> {
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const part of incoming) body += part;
    const host = incoming.headers.host?.replace(/:\d+$/, "");
    response.end(`${[host, incoming.url, body].filter(Boolean).join(" ")}\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

async function openBench(network: readonly string[]) {
  const bench = await Workbench.open();
  const grant: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] },
    paths: [bench.home],
    secrets: "open",
    network: [...network],
  };
  const session = bench.newSession(grant);
  const run = async (command: string, more = {}) =>
    (await bench.call("Bash", { command, ...more }, { grant, session })).output;
  return { run, bench, grant, session };
}

async function listenAt(socket: string): Promise<void> {
  const server = createSocketServer((client) => client.end("SECRET"));
  server.listen(socket);
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

/** Resolves with the status of a request through the proxy. */
async function openProxy(domains: readonly string[], options: DomainProxyOptions) {
  const socketPath = await proxyAt(domains, options);
  return async (url: string) => {
    const sent = request({ socketPath, path: url, agent: false });
    sent.end();
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode as number;
  };
}

async function proxyAt(domains: readonly string[], options: DomainProxyOptions): Promise<string> {
  const socket = path.join(temporaryFolder(), "proxy");
  const server = await startDomainProxy(socket, domains, options);
  onTestFinished(() => void server.close());
  return socket;
}
