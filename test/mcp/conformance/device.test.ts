/** The conformance suite calls tools of a device: its answers cross our own wire, and the relay as it is built. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectMcp, ERAS } from "../../e2e/mcp-client.ts";
import { processesOf } from "../../e2e/processes.ts";
import { startRelay, type TestRelay } from "../../helpers/relay.ts";
import { NEEDS_STRANGERS } from "../strangers.ts";
import { openTokenProxy, type TokenProxy } from "../token-proxy.ts";
import { FIXED } from "./fixture/fixed-results.ts";
import { type FixtureDevice, startFixtureDevice } from "./fixture-device.ts";
import { runSuite } from "./suite.ts";

/** What is not here needs prompts, resources, logs or questions to the client, which no device has. */
const SCENARIOS = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

const ONLY = {
  "2026-07-28": ["http-header-validation", "input-required-result-unsupported-methods"],
  "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping"],
};

let relay: TestRelay;
let proxy: TokenProxy;
let device: FixtureDevice;
let token: string;

beforeAll(async () => {
  proxy = await openTokenProxy();
  relay = await startRelay({ publicUrl: proxy.url });
  device = await startFixtureDevice(relay);
  token = await relay.token();
  proxy.leadTo(relay.port, token);
});
afterAll(async () => {
  await device?.stop();
  await relay?.stop();
  await proxy?.close();
  if (relay) expect(processesOf(relay.dataDir)).toEqual([]);
});

describe("the conformance suite", NEEDS_STRANGERS, () => {
  describe.each(["2026-07-28", "2025-11-25"] as const)(
    "of %s finds nothing wrong with a device",
    (version) => {
      it.each([...SCENARIOS, ...ONLY[version]])("%s", async (scenario) => {
        const { code, summary } = await runSuite([
          ...["server", "--url", `${proxy.url}/mcp/d/${device.id}`],
          ...["--scenario", scenario, "--spec-version", version],
        ]);
        expect(summary).toMatch(/^Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings$/m);
        expect(code).toBe(0);
      });
    },
  );
});

// The suite looks at the kind of an answer; this, at all of it.
it.each(ERAS)("a client gets what the device gave, %s", async (era) => {
  const url = new URL(`${proxy.url}/mcp/d/${device.id}`);
  await using client = await connectMcp(era, { url, token });
  for (const [name, { content, isError }] of Object.entries(FIXED)) {
    const said = await client.callTool({ name });
    const [first] = content;
    if (isError && first?.type === "text")
      expect(said).toMatchObject({
        isError,
        content: [{ type: "text", text: `TOOL_EXECUTION_FAILED: ${first.text}` }],
      });
    else expect(said.content, name).toEqual(content);
  }
});
