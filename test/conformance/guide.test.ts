/** A client written from the Matrx Local guide alone works against each base, unchanged but for URL and token. */
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createdDeviceSchema } from "../../shared/api.ts";
import { processesOf } from "../e2e/processes.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";
import { type GuideRun, runGuide } from "./run-guide.ts";

const MINUTE = 60_000;

function expectConformance({ planned, passed, failed, skipped }: GuideRun): void {
  expect(failed).toEqual([]);
  expect(skipped).toEqual([]);
  expect(passed).toHaveLength(planned);
}

describe("through the relay", () => {
  let relay: Awaited<ReturnType<typeof startRelay>>;
  let machine: Machine;
  let token: string;

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    token = await relay.token();
  });

  afterAll(async () => {
    await machine?.agent.stop();
    await relay?.stop();
    expect(processesOf(relay.dataDir)).toEqual([]);
    expect(existsSync(relay.dataDir)).toBe(false);
  });

  const addDevice = async (name: string) =>
    relay.request(await relay.signIn(), "POST /v1/devices", createdDeviceSchema, { name });

  it(
    "works at the device's base, by REST and WebSocket",
    async () => {
      expectConformance(await runGuide(`${relay.url}/v1/devices/${machine.id}`, token));
    },
    MINUTE,
  );

  it("works at the relay's root, by REST, with the device in the query", async () => {
    expectConformance(await runGuide(`${relay.url}?device=${machine.id}`, token, "rest"));
  });

  it("works at the relay's root, by REST, with the only device", async () => {
    expectConformance(await runGuide(relay.url, token, "rest"));
  });

  it("works at the relay's root with the device in a header; with several and none named, lists them", async () => {
    const { device: other } = await addDevice("other");
    const invoke = (headers: Record<string, string>) =>
      fetch(`${relay.url}/tools/invoke`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ tool: "Bash", input: { command: "echo by header" } }),
      });
    const named = await invoke({ "X-Matrx-Device": machine.id });
    expect(await named.json()).toMatchObject({ type: "success", output: "by header\n", device: machine.id });
    const unnamed = await invoke({});
    expect(unnamed.status).toBe(400);
    expect(JSON.stringify(await unnamed.json())).toContain(other.id);
  });
});

describe("at the agent's local server", () => {
  /** Starts it in folders of its own, and checks afterwards that nothing of it is left but its own files. */
  async function withServer(options: readonly string[], use: (server: LocalServer) => Promise<void>) {
    const folders = { home: temporaryFolder(), temporary: temporaryFolder() };
    const server = await startLocalServer(folders, options);
    try {
      await use(server);
    } finally {
      await server.child.stop(5000);
    }
    expect((await server.child.ended).code).toBe(0);
    expect([...processesOf(folders.home), ...processesOf(folders.temporary)]).toEqual([]);
    expect(readdirSync(folders.temporary)).toEqual([]);
  }

  it(
    "works with its token",
    () =>
      withServer([], async ({ url, token }) => {
        expect((await fetch(`${url}/tools/list`)).status).toBe(401);
        expectConformance(await runGuide(url, token));
      }),
    MINUTE,
  );

  it("works without any token when the owner asked for none", () =>
    withServer(["--no-token"], async ({ url }) => {
      expectConformance(await runGuide(url, undefined, "rest"));
    }));
});
