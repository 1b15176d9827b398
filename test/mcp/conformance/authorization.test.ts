/** The conformance suite as an app that the owner lets in: our metadata, the way to a code, and the token for it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createdDeviceSchema } from "../../../shared/api.ts";
import { startOauthApp } from "../../helpers/oauth-app.ts";
import { allowApp } from "../../helpers/owner-consent.ts";
import { startRelay, type TestRelay } from "../../helpers/relay.ts";
import { NEEDS_STRANGERS } from "../strangers.ts";
import { runSuite } from "./suite.ts";

describe("the conformance suite for authorization servers", NEEDS_STRANGERS, () => {
  let relay: TestRelay;
  let device: string;

  beforeAll(async () => {
    relay = await startRelay();
    const made = await relay.request(await relay.signIn(), "POST /v1/devices", createdDeviceSchema, {
      name: "laptop",
    });
    device = made.device.id;
  });
  afterAll(() => relay?.stop());

  /** Registers a client that is called back on this machine. */
  async function register(): Promise<{ id: string; port: string }> {
    // The suite itself takes its place at that port.
    await using app = await startOauthApp(relay.url);
    return { id: await app.register("Conformance suite"), port: new URL(app.callback).port };
  }

  it.each([
    ["all devices", () => "/mcp"],
    ["one device", () => `/mcp/d/${device}`],
  ])("finds nothing wrong with ours, for %s", async (_, path) => {
    const { id, port } = await register();
    const grant = { name: "suite", devices: [device], paths: ["~"], effects: ["read" as const] };
    const { code, summary, scenarios } = await runSuite(
      [
        ...["authorization", "--url", relay.url, "--resource", relay.url + path()],
        ...["--client-id", id, "--port", port],
      ],
      async (address) => fetch(await allowApp(relay, address, grant)),
    );
    // No baseline of expected failures, and nothing skipped.
    expect(scenarios, summary).toEqual({
      "authorization-server-metadata-endpoint": "2 passed, 0 failed",
      "authorization-code-grant": "1 passed, 0 failed",
    });
    expect(code).toBe(0);
  });
});
