/** The control server's door: who may come in, and what stood in its place before. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { CONTROL_HOST, controlEndpoint } from "../../../agent/control/endpoint.ts";
import { startControlServer } from "../../../agent/control/server.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { needs } from "../../helpers/parts.ts";
import { silentLog } from "../core/small-tools.ts";

const ON_POSIX = needs(process.platform !== "win32", "Unix sockets with permissions: not on Windows");

async function listen(folder: string) {
  const server = await startControlServer({
    ...{ folder, name: "agent", log: silentLog },
    routes: [(app) => void app.get("/hello", (c) => c.text("hello"))],
  });
  onTestFinished(() => server.close());
  return { server, socketPath: controlEndpoint(folder, "agent") };
}

async function get(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const sent = request({ socketPath, path, agent: false, headers: { Host: CONTROL_HOST, ...headers } });
  sent.end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode as number, body: await text(response) };
}

test("the socket is this user's alone, whatever the folder was before", ON_POSIX, async () => {
  const folder = join(temporaryFolder(), "control");
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const { socketPath, server } = await listen(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  expect(await get(socketPath, "/hello")).toEqual({ status: 200, body: "hello" });
  await server.close();
  expect(existsSync(socketPath)).toBe(false);
});

test.each([
  { Origin: "http://localhost" },
  { Origin: "null" },
  { "Sec-Fetch-Mode": "no-cors" },
  { Host: "localhost" },
])("a page is refused: %j", ON_POSIX, async (headers) => {
  const { socketPath } = await listen(join(temporaryFolder(), "control"));
  const { status, body } = await get(socketPath, "/hello", headers);
  expect([status, JSON.parse(body).code]).toEqual([403, "PERMISSION_DENIED"]);
});

test("a route that is not there is said", ON_POSIX, async () => {
  const { socketPath } = await listen(join(temporaryFolder(), "control"));
  expect((await get(socketPath, "/approvals")).status).toBe(404);
});

test(
  "the socket that a killed agent left is replaced; anything else in its place is not",
  ON_POSIX,
  async () => {
    const folder = join(temporaryFolder(), "control");
    mkdirSync(folder);
    const place = controlEndpoint(folder, "agent");
    const dead = createServer().listen(`${place}.old`);
    await once(dead, "listening");
    onTestFinished(() => void dead.close());
    symlinkSync(`${place}.old`, place);
    await expect(listen(folder)).rejects.toThrow("cannot reach the agent");
    const other = join(temporaryFolder(), "control");
    mkdirSync(other);
    writeFileSync(controlEndpoint(other, "agent"), "a file");
    await expect(listen(other)).rejects.toThrow("cannot reach the agent");
  },
);

test("a folder that leads elsewhere is refused", ON_POSIX, async () => {
  const parent = temporaryFolder();
  mkdirSync(join(parent, "elsewhere"));
  symlinkSync(join(parent, "elsewhere"), join(parent, "control"));
  await expect(listen(join(parent, "control"))).rejects.toThrow("cannot reach the agent");
});
