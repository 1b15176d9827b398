/**
 * The suite in projects, by what a test costs.
 *
 * - `unit`: nothing but Node. Starts no process (test/helpers/no-processes.ts refuses), so its files share a process each.
 * - `workerd`: the relay's own code inside the Workers runtime. Files share four runtimes.
 * - `process`: starts real processes (relay, agent, shells), so each file has a Node process of its own.
 * - `browser`: a real relay, agent and Chromium for each file. Half of the suite's time.
 * - `mcp`, in the mode of that name: programs that others wrote, installed by scripts/test-mcp.ts.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { ISSUERS } from "./test/worker/helpers/issuers.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const key = { ...privateKey.export({ format: "jwk" }), kid: "test", alg: "EdDSA", use: "sig" };

// The plugin reads wrangler.toml, whose secrets come from the environment, and tells much of what it does.
Object.assign(process.env, {
  RELAY_KEYS: JSON.stringify({ keys: [key] }),
  CLAIM_SECRET: randomBytes(32).toString("base64url"),
  WRANGLER_LOG: "error",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
});

/** Named so, wherever it lies, or in a folder where all tests start processes. */
const STARTS_PROCESSES = ["test/**/*.process.test.ts", "test/{clients,conformance,e2e,fuzz}/**/*.test.ts"];
const IN_BROWSER = ["test/web/*.test.ts"];
const IN_WORKERD = ["test/worker/**/*.test.ts"];

// Time-outs end tests that hang; they must not end slow ones on a busy machine.
const PATIENCE = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } } as const;

/**
 * Two files for each of two cores, since a file waits half of its time. All at once, so that no core waits for the last file
 * of a project.
 */
const TOGETHER = { maxWorkers: 4, sequence: { groupOrder: 1 } } as const;

const processes = { ...PATIENCE, ...TOGETHER, pool: "forks", globalSetup: "test/helpers/build.ts" } as const;

export default defineConfig(({ mode }) => ({
  test: {
    reporters: ["./test/helpers/result-reporter.ts", "./test/helpers/skip-reporter.ts", "default"],
    tags: [{ name: "root", description: "mounts something, or acts for another user" }],
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...STARTS_PROCESSES, ...IN_BROWSER, ...IN_WORKERD, "test/mcp/**"],
          setupFiles: "test/helpers/no-processes.ts",
          ...PATIENCE,
          pool: "forks",
          isolate: false,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: { OIDC_ISSUERS: JSON.stringify(ISSUERS), FORWARD_DOMAIN: "forward.test" },
              r2Buckets: ["CLOUD_BUCKET"],
            },
          }),
        ],
        test: {
          name: "workerd",
          include: IN_WORKERD,
          setupFiles: "test/worker/helpers/fresh-runtime.ts",
          ...PATIENCE,
          ...TOGETHER,
          isolate: false,
        },
      },
      {
        test: {
          name: "process",
          include: STARTS_PROCESSES,
          exclude: IN_BROWSER,
          ...processes,
        },
      },
      {
        test: { name: "browser", include: IN_BROWSER, ...processes },
      },
      // The first of them install packages.
      ...(mode === "mcp"
        ? [{ test: { name: "mcp", include: ["test/mcp/**/*.test.ts"], ...processes, hookTimeout: 240_000 } }]
        : []),
    ],
  },
}));
