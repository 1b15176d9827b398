/** An MCP client that knows nothing but an address: it is refused, finds the way, is let in, calls, and is cut off. */
import {
  auth,
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { tokenListSchema } from "../../shared/token-api.ts";
import { allowApp } from "../helpers/owner-consent.ts";
import { fileIn, type Rig, startRig } from "./rig.ts";

const CALLBACK = "http://127.0.0.1:8976/callback";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

/** A client's own memory, and where it sends the person's browser. */
class Memory implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = { client_name: "Real client", redirect_uris: [CALLBACK] };
  client: StoredOAuthClientInformation | undefined;
  kept: StoredOAuthTokens | undefined;
  sentTo: URL | undefined;
  #verifier = "";
  #found: OAuthDiscoveryState | undefined;

  clientInformation() {
    return this.client;
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.client = client;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(address: URL) {
    this.sentTo = address;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  saveDiscoveryState(found: OAuthDiscoveryState) {
    this.#found = found;
  }
  discoveryState() {
    return this.#found;
  }
  invalidateCredentials() {
    this.kept = undefined;
  }
}

type Era = "legacy" | "auto";

function transportTo(path: string, memory: Memory) {
  return new StreamableHTTPClientTransport(new URL(path, rig.relay.url), { authProvider: memory });
}

/** Connects; it ends with the scope. */
async function connect(era: Era, path: string, memory: Memory) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
  await client.connect(transportTo(path, memory));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Returns what the person's browser brings back. */
async function allow(address: URL | undefined): Promise<URLSearchParams> {
  if (!address) throw new Error("The client sent nobody to the relay");
  const grant = {
    name: "real client",
    devices: [rig.device],
    paths: [rig.folder],
    effects: ["read" as const],
  };
  return (await allowApp(rig.relay, address, grant)).searchParams;
}

/** All the way from an address to tokens. */
async function letIn(era: Era, path: string): Promise<Memory> {
  const memory = new Memory();
  await expect(connect(era, path, memory)).rejects.toThrow(UnauthorizedError);
  await transportTo(path, memory).finishAuth(await allow(memory.sentTo));
  return memory;
}

async function grants() {
  const { tokens } = await rig.relay.request(await rig.relay.signIn(), "GET /v1/tokens", tokenListSchema);
  return tokens.filter(({ client }) => client);
}

describe.each<Era>(["legacy", "auto"])("a client of the era %s", (era) => {
  it("is let in at all devices, and may do what was chosen", async () => {
    const memory = await letIn(era, "/mcp");
    expect(memory.sentTo?.searchParams.get("resource")).toBe(`${rig.relay.url}/mcp`);
    await using client = await connect(era, "/mcp", memory);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("Read");
    const listed = await client.callTool({ name: "list_devices" });
    expect(listed.structuredContent).toMatchObject({ devices: [{ id: rig.device }] });
    const input = { device: rig.device, file_path: fileIn(rig), content: "x" };
    const written = await client.callTool({ name: "Write", arguments: input });
    expect(written.isError).toBe(true);
    expect(JSON.stringify(written)).toContain("PERMISSION_DENIED");
  });

  it("is let in at one device, and nowhere else", async () => {
    const memory = await letIn(era, `/mcp/d/${rig.device}`);
    await using client = await connect(era, `/mcp/d/${rig.device}`, memory);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("Read");
    const elsewhere = await fetch(`${rig.relay.url}/mcp`, {
      method: "POST",
      headers: { Authorization: `Bearer ${memory.kept?.access_token}` },
    });
    expect(elsewhere.status).toBe(401);
    expect(elsewhere.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
  });

  it("is let in at an address with families, as at the one without, and is shown them", async () => {
    const path = "/mcp?tools=system";
    const memory = await letIn(era, path);
    expect(memory.sentTo?.searchParams.get("resource")).toBe(`${rig.relay.url}/mcp`);
    await using client = await connect(era, path, memory);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("Read");
    const enabled = await client.callTool({ name: "enable_tools", arguments: { family: "files" } });
    expect(JSON.stringify(enabled)).toContain("Read");
    await using other = await connect(era, path, memory);
    expect((await other.listTools()).tools.map(({ name }) => name)).toContain("Read");
  });

  it("refreshes by itself, until the person ends it", async () => {
    const before = (await grants()).map(({ id }) => id);
    const memory = await letIn(era, "/mcp");
    const [grant] = (await grants()).filter(({ id }) => !before.includes(id));
    const first = memory.kept;
    expect(await auth(memory, { serverUrl: `${rig.relay.url}/mcp` })).toBe("AUTHORIZED");
    expect(memory.kept?.refresh_token).not.toBe(first?.refresh_token);
    await using client = await connect(era, "/mcp", memory);
    await client.listTools();

    await rig.relay.request(await rig.relay.signIn(), `DELETE /v1/tokens/${grant?.id}`, z.unknown());
    memory.sentTo = undefined;
    await expect(auth(memory, { serverUrl: `${rig.relay.url}/mcp` })).resolves.toBe("REDIRECT");
    expect(memory.sentTo).toBeDefined();
  });
});

it("whoever has no token is told where to sign in", async () => {
  for (const path of ["/mcp", `/mcp/d/${rig.device}`, "/mcp/d/nobody-0000000000"]) {
    const response = await fetch(rig.relay.url + path, { method: "POST" });
    expect(response.status, path).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toBe(
      `Bearer realm="matrx", resource_metadata="${rig.relay.url}/.well-known/oauth-protected-resource${path}", scope="mcp"`,
    );
  }
});
