/** `matrx up --serve` as a process of its own. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import * as z from "zod";
import { startMatrx } from "../agent/cli/matrx.ts";

const saidSchema = z.looseObject({
  url: z.string().optional(),
  token_file: z.string().optional(),
  state: z.string().optional(),
});

/** Starts the agent; resolves when it serves here and is registered there. */
export async function upAndServe(home: string) {
  const child = startMatrx(["up", "--serve", "0", "--json", "--log-level", "warn"], { home });
  let [url, token, text, errors] = ["", "", "", ""];
  child.stderr?.on("data", (data) => {
    errors += data;
  });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${errors}`)));
    child.stdout?.on("data", (data) => {
      text += data;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const said of lines.map((line) => saidSchema.parse(JSON.parse(line)))) {
        if (said.url && said.token_file) {
          url = said.url;
          token = readFileSync(said.token_file, "utf8").trim();
        }
        if (said.state === "REGISTERED") resolve();
      }
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const [code] = await once(child, "exit");
    return code;
  };
  const stop = async () => expect(await end("SIGTERM")).toBe(0);
  return { url, token, stop, kill: () => end("SIGKILL") };
}
