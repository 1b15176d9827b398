/** The conformance suite through our own middleware: routes, host guard, credentials, sessions, both eras. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestRelay } from "../../helpers/relay.ts";
import { NEEDS_STRANGERS } from "../strangers.ts";
import { openTokenProxy, type TokenProxy } from "../token-proxy.ts";
import { startFixtureRelay } from "./fixture-relay.ts";
import { runSuite } from "./suite.ts";

let relay: TestRelay;
let proxy: TokenProxy;

describe("the conformance suite", NEEDS_STRANGERS, () => {
  beforeAll(async () => {
    proxy = await openTokenProxy();
    relay = await startFixtureRelay(proxy.url);
    proxy.leadTo(relay.port, await relay.token());
  });
  afterAll(async () => {
    await relay.stop();
    await proxy.close();
  });

  // No baseline of expected failures. Scenarios that a revision does not require are run, but not counted.
  it.each([
    ["2026-07-28", 37],
    ["2025-11-25", 30],
  ])("finds nothing wrong with what %s requires", { timeout: 240_000 }, async (revision, required) => {
    const { code, summary, scenarios } = await runSuite([
      ...["server", "--url", `${proxy.url}/mcp`, "--requirements", revision],
    ]);
    console.log(`${revision}: ${summary.match(/^Total: .*$/m)?.[0]}`);
    expect(summary).not.toMatch(/^✗ (?!tasks-|http-custom-header)/m);
    expect(Object.keys(scenarios).length).toBeGreaterThanOrEqual(required);
    expect(code).toBe(0);
  });
});
