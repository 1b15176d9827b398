/** Starts workerd on a configuration; the port comes from its control channel. */
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { type Processes, type Program, pidOf } from "./processes.ts";

/** The program itself, not npm's shim in front of it. */
export const WORKERD: string = createRequire(import.meta.url)("workerd").default;

export async function serveWorkerd(
  processes: Processes,
  config: string,
  objects: string,
  { port = 0, env = {} }: { port?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Program> {
  const args = ["serve", config, `-dobjects=${objects}`, `-shttp=127.0.0.1:${port}`, "--control-fd=3"];
  const child = processes.spawn(WORKERD, args, { env, stdio: ["ignore", "inherit", "inherit", "pipe"] });
  return { pid: pidOf(child, "workerd"), port: await portFrom(child.stdio[3] as Readable) };
}

async function portFrom(control: Readable): Promise<number> {
  let text = "";
  for await (const part of control.setEncoding("utf8")) {
    text += part;
    const port = /"socket":"http","port":(\d+)/.exec(text)?.[1];
    if (port) return Number(port);
  }
  throw new Error("workerd ended before it listened");
}
