/**
 * Starts a program in each way that the agent has, and ends when each has told its state. Arguments: a folder, and the program,
 * which gets the name of the way.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { launchFirst } from "../../../agent/desktop/launch.ts";
import { Jobs } from "../../../agent/jobs/jobs.ts";
import { ChildTransport } from "../../../agent/mounts/child-transport.ts";
import { loginEnvironment } from "../../../agent/platform/login-environment.ts";
import type { Wrap } from "../../../agent/platform/platform.ts";
import { Terminals } from "../../../agent/terminals/terminals.ts";
import { LIMITS, OWNER, script } from "../terminals/held.ts";
import { WAYS } from "./ways.ts";

const [folder = "", program = ""] = process.argv.slice(2);
const env = await loginEnvironment(process.env);
/** As the sandbox does it, without one. */
const wrap: Wrap = ([file = "", ...args]) => ({ file, args, env: {}, fds: [] });

const jobs = await Jobs.open({ directory: join(folder, "jobs") });
const job = { cwd: "/", grant: OWNER.id, owner: true, background: true };
await jobs.start({ ...job, command: `${program} job` });
await jobs.start({ ...job, command: `${program} confined-job`, confine: wrap });

const terminals = new Terminals({ folder: join(folder, "t"), limits: LIMITS });
await terminals.create(script(`${program} terminal`));
const confinement = { limits: "sandbox", wrapped: wrap([program, "confined-terminal"]) };
await terminals.create(script("", { confinement }));

await launchFirst([{ program, args: ["application"], watchMs: 50, handsOver: false, detached: true }], {
  env,
  cwd: "/",
});

const settings = { command: program, args: ["mount"] };
const mount = new ChildTransport({
  ...{ settings, mark: "mount_1", env, runIn: "/", log: pino({ level: "silent" }) },
  confine: () => Promise.reject(new Error("it is not confined")),
});
await mount.start();

const haveTold = () => WAYS.every((way) => existsSync(join(folder, `${way}.state`)));
for (const until = Date.now() + 20_000; !haveTold() && Date.now() < until; ) await sleep(20);
await mount.close();
await terminals.stopFor("everyone");
terminals.disconnect();
jobs.close();
