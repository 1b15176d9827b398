/** Mounted servers behind a real dispatcher, for one test; nothing is left when it is over. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import pino from "pino";
import { onTestFinished } from "vitest";
import type { MountSettings } from "../../../agent/config/mount-settings.ts";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { manifestOf } from "../../../agent/core/manifest.ts";
import type { ConfineServer } from "../../../agent/mounts/confine.ts";
import { MOUNT_TIMES, type MountTimes } from "../../../agent/mounts/mount.ts";
import { Mounts } from "../../../agent/mounts/mounts.ts";
import { Pictures } from "../../../agent/pictures/pictures.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, smallToolbox } from "../core/small-tools.ts";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A server of this folder. */
export function goodServer(more: object = {}) {
  return { command: process.execPath, args: [file("good-server.mjs")], ...more };
}

export function oddServer(...args: string[]) {
  return { command: process.execPath, args: [file("odd-server.mjs"), ...args] };
}

/** Short, for tests of what happens after a failure. */
export const QUICK: MountTimes = { ...MOUNT_TIMES, firstPause: 20, longestPause: 100 };

export interface CallMore extends Partial<CallRequest> {
  grant?: GrantScope;
}

export async function mounted(
  servers: MountSettings,
  times: MountTimes = MOUNT_TIMES,
  {
    policy = {},
    confine,
    pins = temporaryFolder(),
  }: { policy?: Policy; confine?: ConfineServer; pins?: string } = {},
) {
  const folder = temporaryFolder();
  /** What the owner was told of closed servers, oldest first. */
  const closings: [server: string, why: string | undefined][] = [];
  const logged: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(line) });
  const toolbox = smallToolbox();
  const mounts = new Mounts({
    ...{ servers, tools: toolbox.tools, runIn: folder, folder, pins, log, times },
    onClosed: (server, why) => void closings.push([server, why]),
    confine: confine ?? toolbox.confineServer,
    pictures: new Pictures(),
  });
  const journal = new Journal(join(folder, "journal"));
  const dispatcher = new Dispatcher({
    ...{ device: "box", policy: { current: () => policy }, journal, log, windDownMs: 300 },
    ...toolbox,
    tools: mounts,
  });
  onTestFinished(async () => {
    await dispatcher.stopAll("over");
    await mounts.close();
    journal.close();
  });
  const call = async (tool: string, input: Record<string, unknown> = {}, more: CallMore = {}) => {
    const progress: Progress[] = [];
    const { header, body } = await dispatcher.run({
      ...{ call: makeCallId(), tool, input, grant: OWNER, onProgress: (one) => progress.push(one) },
      ...more,
    });
    return { header, progress, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
  };
  /** Resolves with the next state of this kind, of now or later. */
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => setTimeout(resolve, 5));
  };
  const manifest = () => manifestOf(mounts.current());
  return { mounts, dispatcher, journal, call, until, logged, manifest, folder, pins, closings };
}

/** Processes of the server `odd` that is mounted from this folder, of whatever parent. */
export function processesOfOdd(folder: string): Promise<number[]> {
  const mark = `MATRX_JOB=mount-${hash("sha256", JSON.stringify([folder, "odd"])).slice(0, 16)}`;
  return currentPlatform().processes.members({ pid: -1, began: "", mark });
}

/** Names of the mounted tools. */
export function names(mounts: Mounts): string[] {
  return mounts
    .current()
    .map(({ name }) => name)
    .filter((name) => name.includes("__"));
}
