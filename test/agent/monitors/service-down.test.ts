/** Services that go and come back: real servers on this machine. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Conditions } from "../../../agent/monitors/condition.ts";
import { addressOf, checkService } from "../../../agent/monitors/service-check.ts";
import { ServiceWatch, watchServices } from "../../../agent/monitors/service-down.ts";
import { findPort } from "../../../scripts/start/port.ts";
import { heardParts } from "./parts.ts";

const never = new AbortController().signal;

async function listening(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function web(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listening(server)}`;
}

const answers = (status: number) => web((_request, response) => response.writeHead(status).end("hello"));

test.each([
  [200, undefined, undefined],
  [302, undefined, undefined],
  [401, undefined, undefined],
  [503, undefined, "It answered with status 503"],
  [204, 204, undefined],
  [200, 204, "It answered with status 200"],
  [503, 503, undefined],
])("an answer of %i, with %s expected: %s", async (status, expected, why) => {
  const url = await answers(status);
  expect(await checkService({ name: "web", url, status: expected }, never)).toBe(why);
});

test("nothing listens, no such name, no answer in time: each in words", async () => {
  const { port } = await findPort(0);
  const refused = "Nothing is listening there (ECONNREFUSED)";
  expect(await checkService({ name: "web", url: `http://localhost:${port}` }, never)).toBe(refused);
  expect(await checkService({ name: "db", host: "localhost", port }, never)).toBe(refused);
  const slow = await web(() => undefined);
  const soon = AbortSignal.timeout(50);
  expect(await checkService({ name: "web", url: slow }, soon)).toBe("It did not respond in time");
  const closes = createTcpServer((socket) => socket.destroy());
  const url = `http://127.0.0.1:${await listening(closes)}`;
  expect(await checkService({ name: "web", url }, never)).toContain("closed the connection");
});

test("a port that takes connections is a service", async () => {
  const port = await listening(createTcpServer((socket) => socket.end()));
  expect(await checkService({ name: "db", host: "127.0.0.1", port }, never)).toBeUndefined();
});

test("where it is told to be is without user, password and query", () => {
  expect(addressOf({ name: "x", url: "https://ann:pw@nas.home:8443/health?key=abc#x" })).toBe(
    "https://nas.home:8443/health",
  );
  expect(addressOf({ name: "x", host: "nas", port: 22 })).toBe("nas:22");
});

test("down after three failures in a row, back after two answers", () => {
  const { emit, reports } = heardParts();
  const watch = new ServiceWatch(
    { name: "wiki", host: "nas", port: 80 },
    new Conditions("service_down", emit),
    3,
  );
  const look = (...whys: (string | undefined)[]) => whys.map((why, n) => watch.look(why, n * 1000));
  expect(look("no", "no", undefined, "no", "no")).toEqual([true, true, false, true, true]);
  expect(reports).toEqual([]);
  expect(look("no", undefined, "no", "no", "no", undefined, undefined, undefined)).toEqual([
    ...[false, true, false, false, false, true, false, false],
  ]);
  expect(reports).toMatchObject([
    {
      key: "wiki",
      severity: "critical",
      data: { service: "wiki", address: "nas:80", reason: "no", failures: 3 },
    },
    { key: "wiki", resolved: true, data: { service: "wiki", down_seconds: expect.any(Number) } },
  ]);
});

test("a service that is stopped and started again is told so; one that is not watched any more is over", async () => {
  const { port } = await findPort(0);
  const parts = { ...heardParts(["old"]), check: checkService };
  const first = createTcpServer((socket) => socket.end());
  await listening(first, port);
  const settings = { every_seconds: 0.02, timeout_seconds: 2, failures: 3 };
  const monitor = watchServices([{ name: "db", host: "127.0.0.1", port }], settings, parts);
  onTestFinished(() => monitor.close());
  expect(await parts.next()).toMatchObject({ key: "old", resolved: true, data: { unwatched: true } });
  await new Promise((resolve) => first.close(resolve));
  expect(await parts.next()).toMatchObject({
    key: "db",
    data: { reason: expect.stringContaining("ECONNREFUSED") },
  });
  await listening(
    createTcpServer((socket) => socket.end()),
    port,
  );
  expect(await parts.next()).toMatchObject({ key: "db", resolved: true, severity: "info" });
});
