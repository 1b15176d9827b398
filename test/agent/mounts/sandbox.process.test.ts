/** A server that its owner keeps in the sandbox: it reaches its folders and domains, and nothing else. */
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ServerSandbox } from "../../../agent/config/mount-settings.ts";
import { Files } from "../../../agent/fs/access.ts";
import { confineServersIn } from "../../../agent/mounts/confine.ts";
import { DomainProxies } from "../../../agent/sandbox/domain-proxies.ts";
import { Sandbox, type SandboxOptions } from "../../../agent/sandbox/sandbox.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { mounted, processesOfOdd, QUICK } from "./mounted.ts";

const SERVER = fileURLToPath(new URL("reaching-server.mjs", import.meta.url));

async function reaching(sandbox: ServerSandbox = {}, options: Partial<SandboxOptions> = {}) {
  const root = realpathSync(temporaryFolder());
  const [work, home] = [join(root, "work"), join(root, "home")];
  for (const folder of [work, home, join(home, ".ssh")]) mkdirSync(folder);
  writeFileSync(join(home, "letter"), "dear Ann");
  writeFileSync(join(work, ".env"), "KEY=sesame");
  writeFileSync(join(work, "scan"), "a scan");
  copyFileSync(SERVER, join(work, "server.mjs"));
  const files = new Files({ protectedPaths: () => ({ closed: [], program: [] }) });
  const proxies = new DomainProxies(join(root, "proxies"), RESOLVER);
  onTestFinished(() => proxies.close());
  const confine = confineServersIn(new Sandbox({ files, home, proxies, ...options }));
  const odd = {
    ...{ command: process.execPath, args: ["server.mjs"], env: { API_KEY: "for the server" } },
    sandbox: { folders: [work, dirname(realpathSync(process.execPath))], ...sandbox },
  };
  const at = await mounted({ odd }, QUICK, { confine });
  await at.mounts.settled;
  const evaluate = async (code: string) => {
    const { answer } = await at.call("odd__evaluate", { code });
    return answer.output;
  };
  return { ...at, evaluate, work, home };
}

/** The port of a site on this machine. */
async function startSite(): Promise<number> {
  const site = createServer((_, response) => response.end("the machine's own")).listen(0, "127.0.0.1");
  await once(site, "listening");
  onTestFinished(() => void site.close());
  return (site.address() as AddressInfo).port;
}

/** Names lead to this machine. */
const RESOLVER = { resolve: async () => [{ address: "127.0.0.1", family: 4 }], isReachable: () => true };

const read = (path: string) =>
  `load("node:fs").then((fs) => fs.readFileSync(${JSON.stringify(path)}, "utf8"))`;
const write = (path: string) =>
  `load("node:fs").then((fs) => fs.writeFileSync(${JSON.stringify(path)}, "new"))`;

describe("a server in the sandbox", NEEDS_SANDBOX, () => {
  it("reads and writes its folders, and gets its own variables but none of the agent's", async () => {
    process.env.AGENTS_SECRET = "leaked";
    onTestFinished(() => void delete process.env.AGENTS_SECRET);
    const { evaluate, work } = await reaching();
    expect(await evaluate(read("scan"))).toBe("a scan");
    await evaluate(write(join(work, "made")));
    expect(readFileSync(join(work, "made"), "utf8")).toBe("new");
    expect(await evaluate("process.env.API_KEY")).toBe("for the server");
    expect(await evaluate("JSON.stringify(process.env)")).not.toContain("leaked");
  });

  it("reaches no other file, no secret of its folders, and no network", async () => {
    const { evaluate, work, home } = await reaching();
    expect(await evaluate(read(join(home, "letter")))).toContain("ENOENT");
    expect(await evaluate(read(join(work, ".env")))).not.toContain("sesame");
    const url = `http://127.0.0.1:${await startSite()}/`;
    expect(await (await fetch(url)).text()).toBe("the machine's own");
    expect(await evaluate(`fetch("${url}").then((response) => response.text())`)).toContain("ECONNREFUSED");
  });

  it("reaches by HTTP the domains that it was given", async () => {
    const port = await startSite();
    const { evaluate } = await reaching({ network: [`given.test:${port}`] });
    const visit = (url: string) => evaluate(`fetch("${url}").then((response) => response.text())`);
    expect(await visit(`http://given.test:${port}/`)).toBe("the machine's own");
    expect(await visit(`http://other.test:${port}/`)).toContain("fetch failed");
    expect(await visit(`http://127.0.0.1:${port}/`)).toContain("ECONNREFUSED");
  });

  it("changes nothing if it may only read", async () => {
    const { evaluate, work } = await reaching({ read_only: true });
    expect(await evaluate(write(join(work, "made")))).toContain("EROFS");
    expect(existsSync(join(work, "made"))).toBe(false);
  });

  it("is ended with everything that it started", async () => {
    const { evaluate, mounts, folder } = await reaching();
    const start =
      'load("node:child_process").then((c) => c.spawn("sleep", ["1000"], { detached: true }).pid)';
    expect(Number(await evaluate(start))).toBeGreaterThan(0);
    expect((await processesOfOdd(folder)).length).toBeGreaterThan(2);
    await mounts.close();
    expect(await processesOfOdd(folder)).toEqual([]);
  });
});

it("a server for the sandbox is not started without one", async () => {
  const findBackend = () => ({ why: "bubblewrap is not installed", help: "install it" });
  const { mounts } = await reaching({}, { findBackend });
  expect(mounts.views).toMatchObject([
    { state: "failed", why: "the sandbox does not work here: bubblewrap is not installed" },
  ]);
});
