/**
 * Two suites: `workerd` runs inside the Workers runtime, `node` runs real processes against the real relay. In the mode
 * `mcp` there is one more, with programs that others wrote: scripts/test-mcp.ts installs them.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
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

const node = {
  pool: "forks",
  // Files start relays, agents and browsers: more at once than cores only makes them late.
  maxWorkers: 2,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 30_000 } },
  globalSetup: "test/helpers/build.ts",
} as const;

export default defineConfig(({ mode }) => ({
  test: {
    reporters: ["./test/helpers/result-reporter.ts", "./test/helpers/skip-reporter.ts", "default"],
    tags: [{ name: "root", description: "mounts something, or acts for another user" }],
    projects: [
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
        // Time-outs end tests that hang; they must not end slow ones on a busy machine.
        test: { name: "workerd", include: ["test/worker/**/*.test.ts"], testTimeout: 60_000 },
      },
      {
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/worker/**", "test/mcp/**"],
          ...node,
        },
      },
      // The first of them install packages.
      ...(mode === "mcp"
        ? [{ test: { name: "mcp", include: ["test/mcp/**/*.test.ts"], ...node, hookTimeout: 240_000 } }]
        : []),
    ],
  },
}));
