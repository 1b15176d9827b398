/** Settings from the command line and the environment. Any error is printed as one line and ends the program. */
import { readFileSync } from "node:fs";

const NEEDED = ["MATRX_RELAY", "MATRX_TOKEN_FILE", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"];

process.on("uncaughtException", (error) => {
  const reasons = [];
  for (let reason = error; reason; reason = reason.cause) reasons.push(reason.message || reason.code);
  console.error(reasons.join(": "));
  process.exit(1);
});

/** Throws an error that says what is missing. */
export function readSettings() {
  const [device, task] = process.argv.slice(2);
  if (!device || !task) throw new Error('Usage: PROGRAM DEVICE "the task"');
  const missing = NEEDED.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Error(`Not set in the environment: ${missing.join(", ")}`);
  const [relay, tokenFile, baseURL, apiKey, model] = NEEDED.map((name) => process.env[name]);
  const token = readFileSync(tokenFile, "utf8").trim().split(" ").at(-1);
  return { device, task, relay, token, baseURL, apiKey, model };
}
