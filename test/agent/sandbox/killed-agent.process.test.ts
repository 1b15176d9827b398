/** An agent that is killed while bubblewrap starts leaves no process of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../../scripts/tree.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { needs } from "../../helpers/parts.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";
import { runningCommands } from "./scene.ts";

const NEEDS_STRACE = needs(
  existsSync("/usr/bin/strace"),
  "what holds bubblewrap up needs strace: apt-get install strace",
);

/** bubblewrap that waits for a second before it lets its child begin. */
const SLOW = `#!/bin/sh
exec /usr/bin/strace -D -qq -o /dev/null -e trace=write -e inject=write:delay_enter=1000000:when=1 bwrap "$@"
`;

const PROGRAMS = `
  import { Bwrap } from "${ROOT}/agent/sandbox/bwrap.ts";
  import { makeNetwork } from "${ROOT}/agent/sandbox/network.ts";
  import { lackOf } from "${ROOT}/agent/sandbox/probe.ts";
  import { systemPaths } from "${ROOT}/agent/sandbox/system-paths.ts";
  const [bwrap, file] = process.argv.slice(1);
  const programs = { bwrap, nsenter: "nsenter", socat: "/bin/true", prlimit: undefined, system: systemPaths(), env: {} };
`;

describe("an agent that is killed while bubblewrap starts", NEEDS_SANDBOX, () => {
  it.each([
    ["for a network", "await makeNetwork(programs, file);"],
    ["to try the sandbox out", "await lackOf(new Bwrap({ ...programs, isStaged: false }));"],
  ])("%s leaves nothing", NEEDS_STRACE, async (_what, start) => {
    const folder = temporaryFolder();
    const [bwrap, file] = [path.join(folder, "slow"), path.join(folder, "proxy")];
    writeFileSync(bwrap, SLOW);
    chmodSync(bwrap, 0o755);
    writeFileSync(file, "");
    const agent = spawn(process.execPath, ["--input-type=module", "-e", PROGRAMS + start, bwrap, file], {
      env: { ...process.env, TMPDIR: folder },
      stdio: "inherit",
    });
    onTestFinished(() => void agent.kill("SIGKILL"));
    const started = () =>
      runningCommands().filter((one) => one.startsWith("bwrap ") && one.includes(folder)).length;
    // It and its child.
    await expect.poll(started).toBe(2);
    agent.kill("SIGKILL");
    await once(agent, "exit");
    await expect.poll(started, { timeout: 10_000 }).toBe(0);
  });
});
