/** Without a sandbox that works, commands that need one are refused. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Bwrap } from "../../../agent/sandbox/bwrap.ts";
import { findBackend } from "../../../agent/sandbox/find-backend.ts";
import { lackOf, tryOut } from "../../../agent/sandbox/probe.ts";
import { Sandbox } from "../../../agent/sandbox/sandbox.ts";
import { systemPaths } from "../../../agent/sandbox/system-paths.ts";
import { bashTool } from "../../../agent/tools/bash.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";

/** A bubblewrap that is this script. */
function fakeBwrap(script: string): Bwrap {
  const bwrap = path.join(temporaryFolder(), "bwrap");
  writeFileSync(bwrap, `#!/bin/bash\n${script}\n`);
  chmodSync(bwrap, 0o755);
  return new Bwrap({
    bwrap,
    prlimit: undefined,
    nsenter: undefined,
    socat: undefined,
    system: systemPaths(),
    env: {},
    isStaged: false,
  });
}

const UNCONFINED = 'while [ "$1" != matrx-mounts ]; do shift; done; shift; exec "$@"';

describe("the probe", () => {
  it("finds nothing wrong with a sandbox that works", NEEDS_SANDBOX, async () => {
    expect(await lackOf(findBackend({}, true))).toBeUndefined();
  });

  it("removes what agents that were killed while they tried it left, and nothing else", async () => {
    const [folder, bwrap] = [temporaryFolder(), fakeBwrap("exit 1")];
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const name of ["matrx-sandbox-left", "matrx-sandbox-busy", "matrx-other"])
      mkdirSync(path.join(folder, name, "granted"), { recursive: true });
    symlinkSync(path.join(folder, "matrx-other"), path.join(folder, "matrx-sandbox-link"));
    for (const name of ["matrx-sandbox-left", "matrx-other"]) utimesSync(path.join(folder, name), 0, 0);
    await lackOf(bwrap);
    expect(readdirSync(folder).sort()).toEqual(["matrx-other", "matrx-sandbox-busy", "matrx-sandbox-link"]);
    expect(readdirSync(path.join(folder, "matrx-other"))).toEqual(["granted"]);
  });

  it("sees that a command reaches what it must not", async () => {
    const lack = await lackOf(fakeBwrap(UNCONFINED));
    expect(lack?.why).toBe(
      "a command in it reads what is closed, reads what is outside, writes outside, reaches this machine's ports",
    );
  });

  it(
    "takes the sandbox without a stage only with a bubblewrap that no link leads outside",
    NEEDS_SANDBOX,
    async () => {
      const noStage = { why: "bwrap: setting up uid map: Operation not permitted", help: "" };
      const { isStaged, lack } = await tryOut((staged) => (staged ? noStage : findBackend({}, false)));
      expect(isStaged).toBe(false);
      expect(lack?.why).toBe(isLedOutside() ? "a link leads bubblewrap outside" : undefined);
    },
  );

  it.each([
    ["bwrap: Creating new namespace failed: Operation not permitted", /user namespaces|userns/],
    ["bwrap: setting up uid map: Permission denied", /user namespaces|userns/],
    ["bwrap: Unknown option --disable-userns", /0\.8 or newer is needed: .* bubblewrap/],
  ])("tells what to do about %s", async (said, help) => {
    const lack = await lackOf(fakeBwrap(`echo '${said}' >&2; exit 1`));
    expect(lack?.why).toBe(said);
    expect(lack?.help).toMatch(help);
  });
});

/** Whether this machine's bubblewrap creates a mount point where a link leads (CVE-2026-87766). */
function isLedOutside(): boolean {
  const [granted, outside] = [temporaryFolder(), temporaryFolder()];
  symlinkSync(`/oldroot${outside}`, path.join(granted, "link"));
  const made = path.join(granted, "link", "made");
  spawnSync("bwrap", ["--unshare-user", "--bind", "/", "/", "--tmpfs", made, "true"], { stdio: "ignore" });
  return readdirSync(outside).length > 0;
}

describe("without a working sandbox", () => {
  it.each([
    ["none is installed", { why: "bubblewrap is not installed", help: "Install it: apt install bubblewrap" }],
    ["it confines nothing", fakeBwrapLater],
  ])("an AI grant's command is refused and does not run: %s", async (_what, backend) => {
    const bench = await Workbench.open();
    const found = typeof backend === "function" ? backend() : backend;
    const sandbox = new Sandbox({
      ...{ files: bench.files, home: bench.home, proxies: bench.proxies },
      findBackend: () => found,
    });
    const grant = {
      id: makeGrantId(),
      owner: false,
      effects: ["read", "write", "execute"] as ("read" | "write" | "execute")[],
      paths: [bench.home],
    };
    const command = `touch ${bench.at("ran")}`;
    const bash = bashTool(bench.jobs, sandbox);
    const error = await failure(
      bench.callTool(bash, { command }, { grant, session: bench.newSession(grant) }),
    );
    expect(error.code).toBe("UNAVAILABLE");
    expect(error.message).toMatch(
      /^This token's commands must run in a sandbox, and it does not work here: /,
    );
    expect(error.hint).toBeTruthy();
    expect(existsSync(bench.at("ran"))).toBe(false);
    // The owner needs none.
    expect((await bench.callTool(bash, { command })).exit).toBe(0);
  });
});

function fakeBwrapLater(): Bwrap {
  return fakeBwrap(UNCONFINED);
}
