/** What is fuzzed: a relay with this machine as its device, and `matrx serve`. Neither can do harm. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { agentFolder } from "../../scripts/start/agent.ts";
import {
  createdDeviceSchema,
  deviceToolsSchema,
  polledPairingSchema,
  startedPairingSchema,
} from "../../shared/api.ts";
import { createdTokenSchema } from "../../shared/token-api.ts";
import type { ToolDescription } from "../../shared/tool.ts";
import { startLocalServer } from "../conformance/local-server.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import {
  atPaths,
  type Document,
  fetchDocument,
  only,
  without,
  withoutParameter,
  withTools,
} from "./narrow.ts";

/** Tools that are called with made-up input: none runs a program, stops one, or shows a window, and all heed folders. */
const HARMLESS = [
  "Read",
  "Write",
  "Edit",
  "Glob",
  "Grep",
  "ListDirectory",
  "DirectoryTree",
  "SystemInfo",
  "BashOutput",
  "Move",
  "create_directory",
  "search_files",
];

/** It ends with the test. */
export interface Place {
  readonly url: string;
  readonly token: string;
  readonly document: Document;
}

/** The machine's own policy: made-up calls cannot change it, whatever they send to the relay. */
function holdTo(folder: string, home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const policy = { allowed_tools: HARMLESS, allowed_paths: [folder] };
  writeFileSync(join(home, "policy.json"), JSON.stringify(policy), { mode: 0o600 });
  writeFileSync(join(folder, "a"), "text\n");
  mkdirSync(join(folder, "b"));
}

/** A relay of its own, this machine held to a folder, and a device that nothing is lost with. */
export async function relayPlace(): Promise<Place> {
  const folder = temporaryFolder();
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  holdTo(folder, agentFolder(relay.dataDir));
  const machine = await connectMachine(relay);
  onTestFinished(() => machine.agent.stop());
  const token = await personToken(relay);
  const bare = async (name: string) =>
    (await relay.request({ token }, "POST /v1/devices", createdDeviceSchema, { name })).device.id;
  const [lost, spare] = [await bare("lost"), await bare("spare")];
  await widenRates(relay.url, token, machine.id);
  const { tools } = await relay.request({ token }, `GET /v1/devices/${machine.id}/tools`, deviceToolsSchema);
  const harmless = harmlessTools(tools, folder);
  // Signing out would end the token that all requests are made with.
  let document = without(await fetchDocument(relay.url), ["signOut"]);
  document = withTools(document, "/v1/devices/{device}/tools/{tool}", harmless);
  document = only(document, "tool", () => [...HARMLESS, "Nothing"]);
  // Removing a device, setting its policy and sending commands to its program are for bare ones.
  const others: ReadonlyMap<string, string> = new Map([
    ["removeDevice", lost],
    ["setPolicy", spare],
    ["sendCommand", spare],
  ]);
  document = only(document, "device", ({ operationId }) => [others.get(operationId) ?? machine.id]);
  // The program reads ids out of answers: it would revoke its own token.
  const wish = { name: "spare", access: "read" };
  const { id: grant } = await relay.request({ token }, "POST /v1/tokens", createdTokenSchema, wish);
  document = only(document, "grant", () => [grant]);
  // Of two ways to name the device one counts, whatever stands in the other.
  document = withoutParameter(document, "X-Matrx-Device");
  return { url: relay.url, token, document };
}

/** Tools that the machine is held to, with paths in its folder. */
function harmlessTools(tools: readonly ToolDescription[], folder: string) {
  const paths = ["a", "b", "new", "b/new"].map((name) => join(folder, name));
  // What a text must fit to is not made up by chance.
  const examples: Readonly<Record<string, Record<string, unknown>>> = {
    Write: { file_path: join(folder, "new"), content: "text\n" },
    Edit: { file_path: join(folder, "a"), old_string: "text", new_string: "text, and more" },
  };
  return tools
    .filter(({ name }) => HARMLESS.includes(name))
    .map(({ name, input_schema }) => ({
      name,
      input_schema: atPaths(input_schema, paths),
      example: examples[name],
    }));
}

/** So that calls get through to the tools, and are not all refused as too many. */
async function widenRates(url: string, token: string, device: string): Promise<void> {
  const response = await fetch(`${url}/v1/devices/${device}/policy`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ rates: { messages_per_second: 10_000, calls_per_minute: 600_000 } }),
  });
  if (!response.ok) throw new Error(`The policy is refused: ${await response.text()}`);
}

/** The token of a command line that the owner signed in: it may do all that a person may. */
async function personToken(relay: TestRelay): Promise<string> {
  const owner = await relay.signIn();
  const { code, secret } = await relay.request(undefined, "POST /v1/logins", startedPairingSchema, {
    name: "fuzz",
  });
  await relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.looseObject({}));
  const polled = await relay.request(undefined, `POST /v1/pairings/${code}/poll`, polledPairingSchema, {
    secret,
  });
  if (polled.status !== "signed_in") throw new Error(`The login is ${polled.status}`);
  return polled.token;
}

/** `matrx serve`, held to a folder. */
export async function localPlace(): Promise<Place> {
  const [folder, home] = [temporaryFolder(), temporaryFolder()];
  holdTo(folder, home);
  const { url, token = "", child } = await startLocalServer({ home, temporary: folder });
  onTestFinished(() => child.stop(5000));
  const response = await fetch(`${url}/tools`, { headers: { Authorization: `Bearer ${token}` } });
  const { tools } = deviceToolsSchema.parse(await response.json());
  const described = withTools(await fetchDocument(url), "/tools/{tool}", harmlessTools(tools, folder));
  return { url, token, document: only(described, "tool", () => [...HARMLESS, "Nothing"]) };
}
