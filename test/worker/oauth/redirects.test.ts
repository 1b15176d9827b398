/** Where a client may have the browser sent: never to a part of the person's system, by whichever way the address comes. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { isGoodRedirect } from "../../../worker/oauth/redirects.ts";
import { Person } from "../helpers/relay.ts";
import { authorize, CALLBACK, Client, consent, errorOf, post, register } from "./client.ts";

let ann: Person;
let laptop: string;

beforeAll(async () => {
  ann = await Person.signIn();
  laptop = (await ann.bareDevice("laptop")).id;
});
afterEach(() => vi.restoreAllMocks());

/** What opens something on some system, or in some browser. */
const OF_A_SYSTEM = [
  ...["search-ms:query=x", "ms-msdt:/id", "intent://x#Intent;end", "smb://host/share", "shell:startup"],
  ...["about:blank", "chrome://settings", "edge://settings", "moz-extension://x/y", "chrome-extension://x/y"],
  ...["ms-settings:privacy", "ms-word:ofe|u|x", "ms-appinstaller:?source=x", "x-apple.systempreferences:x"],
  ...["tel:1", "sms:1", "mailto:a@b.example", "ssh://host", "sftp://host/", "ftp://host/", "afp://host/"],
  ...["steam://run/1", "slack://open", "zoommtg://x", "android-app://x/y", "view-source:https://a.example"],
  ...["ws://a.example/", "wss://a.example/", "filesystem:https://a.example/", "urn:ietf:wg:oauth:2.0:oob"],
  ...["someapp://callback", "a.b:x", "com:/callback", ".com.example:/callback"],
];

/** What a known program does besides being called back. */
const OF_A_PROGRAM = [
  "vscode://vscode.git/clone?url=https://evil.example/x",
  "vscode://file/etc/passwd",
  "cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=oauth",
  "cursor://anysphere.cursor-deeplink/mcp/install",
  "vscode://file/home/ann/oauth/callback",
  "zed://extension/x",
];

const GOOD = [
  "https://client.example/callback",
  "http://127.0.0.1:1234/callback",
  "http://localhost/callback",
  "cursor://anysphere.cursor-mcp/oauth/callback",
  "vscode://vscode.some-client/oauth-callback",
  "raycast://oauth",
  "com.example.app:/callback",
  "com.raycast:/oauth?package_name=Extension",
];

it("a client registers by an address that some program of its own opens, and by no other", async () => {
  for (const redirect of [...OF_A_SYSTEM, ...OF_A_PROGRAM]) {
    expect(isGoodRedirect(redirect), redirect).toBe(false);
    const answer = await register({ redirect_uris: [redirect] });
    expect(answer.status, redirect).toBe(400);
  }
  expect(await errorOf(await register({ redirect_uris: ["steam://run/1"] }))).toBe("invalid_redirect_uri");
  for (const redirect of GOOD)
    expect((await register({ redirect_uris: [redirect] })).status, redirect).toBe(201);
});

it("an address for another relay may be listed, and is not gone to", async () => {
  const redirect_uris = ["steam://run/1", CALLBACK];
  const client = await Client.register({ redirect_uris });
  expect((await authorize(await client.request())).status).toBe(200);
  await refused(await client.request({ redirect_uri: "steam://run/1" }));
});

it("a client that registered before, or describes itself, is held to the same", async () => {
  const early = await Client.register();
  const store = env.OAUTH_STORE.getByName("clients");
  await runInDurableObject(store, (_, { storage }) =>
    storage.sql.exec(
      "UPDATE entries SET value = replace(value, ?, ?) WHERE key = ?",
      ...[CALLBACK, "ms-msdt:/id", `client:${early.id}`],
    ),
  );
  await refused(await early.request({ redirect_uri: "ms-msdt:/id" }));
  // Whatever else is wrong with the request, no link leads there.
  const bad = { redirect_uri: "ms-msdt:/id", code_challenge: undefined };
  expect(await (await authorize(await early.request(bad))).text()).not.toContain('href="ms-msdt');

  const id = "https://client.example/redirects.json";
  const redirect_uris = [CALLBACK, "search-ms:query=x"];
  const document = { client_id: id, client_name: "Described", redirect_uris };
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(document));
  const described = new Client(id);
  expect((await authorize(await described.request())).status).toBe(200);
  await refused(await described.request({ redirect_uri: "search-ms:query=x" }));
});

/** No page asks the person, and nothing at the relay says where to go. */
async function refused(request: string): Promise<void> {
  const page = await authorize(request);
  expect(page.status).toBe(400);
  expect(await page.text()).not.toContain("<a ");
  expect((await consent(ann, request, { devices: [laptop] })).status).toBe(400);
  for (const path of ["/v1/oauth/requests", "/v1/oauth/refusals"])
    expect((await post(ann.accessToken, path, { request })).status).toBe(400);
}
