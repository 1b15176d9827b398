import { createServer, type Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listenAt, listenAtLocalhost } from "../../../agent/local/loopback.ts";
import { LOCALHOST } from "../../helpers/localhost.ts";

function listener(): Server {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

const addressesOf = (servers: readonly Server[]) => servers.map((server) => Object(server.address()).address);

test("each address is listened at, on one port", async () => {
  const { port, servers } = await listenAtLocalhost(listener, 0);
  expect(addressesOf(servers)).toEqual(LOCALHOST);
  expect(new Set(servers.map((server) => Object(server.address()).port))).toEqual(new Set([port]));
});

test.each(LOCALHOST)("nothing listens where %s is another program's", async (address) => {
  const port = await listenAt(listener(), address, 0);
  const made: Server[] = [];
  const make = () => {
    const server = listener();
    made.push(server);
    return server;
  };
  await expect(listenAtLocalhost(make, port)).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(made.filter(({ listening }) => listening)).toEqual([]);
});

test.each(["EADDRNOTAVAIL", "EAFNOSUPPORT"])(
  "a machine without IPv6 (%s) has the one address",
  async (code) => {
    const make = () => {
      const server = listener();
      const { listen } = server;
      vi.spyOn(server, "listen").mockImplementation((...args: unknown[]) => {
        if (args[1] !== "::1") return Reflect.apply(listen, server, args);
        queueMicrotask(() => server.emit("error", Object.assign(new Error("no IPv6"), { code })));
        return server;
      });
      return server;
    };
    const { servers } = await listenAtLocalhost(make, 0);
    expect(addressesOf(servers)).toEqual(["127.0.0.1"]);
  },
);
