/** What the pictures show: machines, people, and what went on between them. */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { callListSchema, startedPairingSchema } from "../../shared/api.ts";
import { approvalListSchema } from "../../shared/approval.ts";
import type { Policy } from "../../shared/policy.ts";
import { startOauthApp } from "../helpers/oauth-app.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { makeProject } from "./files.ts";
import { type Machines, startMachines } from "./machines.ts";
import { invitePeople, type People } from "./people.ts";

const POLICY: Policy = {
  denied_tools: ["StopProcess"],
  ask: [{ effects: ["execute"], match: "*git push*" }],
  rates: { calls_per_minute: 120 },
};

export interface Household {
  readonly relay: TestRelay;
  readonly machines: Machines;
  readonly people: People;
  /** A folder on the machine `studio`. */
  readonly project: string;
  /** The call that changed a file, by its record's id. */
  readonly changing: string;
  /** Where an app sends its person, to be let in. */
  readonly consent: string;
  /** Waits until the AI's calls ask; makes them again if their time is over. */
  keepAsking(): Promise<void>;
  /** Lets a machine ask to be added. Returns its code. */
  askToPair(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts it all. `guests`: how many browsers the friend signs in with. */
export async function startHousehold(guests: number): Promise<Household> {
  const stack = new AsyncDisposableStack();
  try {
    return await settle(guests, stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function settle(guests: number, stack: AsyncDisposableStack): Promise<Household> {
  const relay = stack.use(await startRelay());
  const project = makeProject();
  stack.defer(() => rmSync(dirname(project), { recursive: true, force: true }));
  const machines = await startMachines(relay, project, stack);
  const { studio } = machines;
  const people = await invitePeople(relay, { device: studio, project, guests });
  await relay.request(await relay.signIn(), `PUT /v1/devices/${studio}/policy`, z.unknown(), POLICY);

  const call = async (token: string, tool: string, input: Record<string, unknown>) => {
    const response = await fetch(`${relay.url}/v1/devices/${studio}/tools/${tool}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(input),
    });
    return response.text();
  };
  const { backup, codex, claude } = people;
  const water = join(project, "src/water.ts");
  await call(codex, "ListDirectory", { path: project });
  await call(codex, "Read", { file_path: join(project, "package.json") });
  await call(codex, "Grep", { pattern: "valve", path: project });
  await call(codex, "Bash", { command: "npm test" });
  await call(backup, "Edit", { file_path: water, old_string: "MINUTES = 10", new_string: "MINUTES = 12" });
  await call(backup, "Bash", { command: `ls --color=always -l '${project}'` });
  await call(backup, "Bash", { command: `cd '${project}' && cat src/pump.ts` });
  await call(backup, "Read", { file_path: join(project, "logs/today.log") });
  // It runs for as long as the pictures take.
  void call(backup, "Bash", { command: "tail -f /dev/null", timeout: 600_000 }).catch(() => undefined);

  const assistant = stack.use(await startOauthApp(relay.url));
  const consent = assistant.address(await assistant.register("Garden assistant")).slice(relay.url.length);

  const { calls } = await relay.request(
    await relay.signIn(),
    `GET /v1/devices/${studio}/calls`,
    callListSchema,
  );
  const waiting = async () =>
    (await relay.request(await relay.signIn(), "GET /v1/approvals", approvalListSchema)).approvals.length;

  return {
    ...{ relay, machines, people, project, consent },
    changing: calls.find(({ tool }) => tool === "Edit")?.call ?? "",
    async keepAsking() {
      if ((await waiting()) > 0) return;
      const content =
        "# Garden\n\nOpens the valves at dawn.\n\n- `npm start` runs it\n- `npm test` tests it\n";
      void call(claude, "Write", { file_path: join(project, "README.md"), content }).catch(() => undefined);
      while ((await waiting()) === 0) await sleep(100);
    },
    async askToPair() {
      const pairing = await relay.request(undefined, "POST /v1/pairings", startedPairingSchema, {
        ...{ name: "attic", hostname: "attic.local", os: "Linux", os_version: "Debian 13" },
        public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      });
      return pairing.code;
    },
    stop: () => stack.disposeAsync(),
  };
}
