/** `config.json`: which device this is, and at which relay. */
import { agentError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { rawMonitorsSchema } from "../monitors/settings.ts";
import { readJsonFile, writePrivateFile } from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";
import { mountsSchema } from "./mount-settings.ts";
import { relayUrlSchema } from "./relay-url.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

const configSchema = z.strictObject({
  relay: relayUrlSchema,
  device_id: z.string("must be the id that the relay gave").min(1).max(128),
  name: z.string().min(1).max(64),
  /** The account that confirmed the pairing. */
  account: z.string().optional(),
  log_level: z.enum(LOG_LEVELS).optional(),
  /** What to monitor on this machine, as its owner wrote it; the rest has defaults. */
  monitors: rawMonitorsSchema.optional(),
  /** MCP servers whose tools become tools of this device. */
  mcpServers: mountsSchema.optional(),
});
export type Config = z.infer<typeof configSchema>;

/** Reads the configuration; undefined before pairing. Throws MatrxError naming the file and the key. */
export function readConfig(home: Home): Config | undefined {
  return readJsonFile(home.configFile, configSchema);
}

/** The configuration of a paired device. Throws MatrxError saying how to pair. */
export function requireConfig(home: Home): Config {
  const config = readConfig(home);
  if (config) return config;
  throw agentError("UNKNOWN_DEVICE", `This machine is not paired yet (there is no ${home.configFile})`, {
    hint: "Pair and connect it: matrx up --relay https://your-relay",
  });
}

export function writeConfig(home: Home, config: Config): void {
  writePrivateFile(home.configFile, `${JSON.stringify(config, undefined, 2)}\n`);
}
