/** `matrx serve` as a process of its own. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { type Child, started } from "../../scripts/start/process.ts";
import { userEnvironment } from "../../scripts/start/user-environment.ts";

const announcedSchema = z.object({ url: z.string(), token_file: z.string().nullable() });

export interface LocalServer {
  readonly url: string;
  readonly token: string | undefined;
  readonly child: Child;
}

/** Starts it on a free port; resolves when it listens. */
export async function startLocalServer(
  { home, temporary }: { home: string; temporary: string },
  options: readonly string[] = [],
): Promise<LocalServer> {
  const args = [MATRX_BIN, "serve", "--port", "0", "--json", "--log-level", "error", ...options];
  const serving = spawn(process.execPath, args, {
    env: { ...userEnvironment(process.env), MATRX_HOME: home, MATRX_PROTECTED: home, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const child = await started(serving);
  let said = "";
  serving.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  for await (const line of createInterface({ input: serving.stdout })) {
    const { url, token_file } = announcedSchema.parse(JSON.parse(line));
    const token = token_file === null ? undefined : readFileSync(token_file, "utf8").trim();
    return { url, token, child };
  }
  throw new Error(`matrx serve ${(await child.ended).how} before it listened: ${said}`);
}
