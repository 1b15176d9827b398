/** This machine's sockets: those of the test, as the tool finds them. */
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

const rowsSchema = z.array(
  z.strictObject({
    protocol: z.enum(["tcp", "udp"]),
    local: z.strictObject({ address: z.string(), port: z.int() }),
    remote: z.strictObject({ address: z.string(), port: z.int() }).nullable(),
    state: z.string().nullable(),
    pid: z.int().nullable(),
    process: z.string().nullable(),
  }),
);

async function listen(host = "127.0.0.1"): Promise<number> {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function connectTo(port: number): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket.localPort ?? 0;
}

const SERVER =
  'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))';

/** Another process that listens, under this name. */
async function program(argv0: string, args: readonly string[] = []) {
  const child = spawn(process.execPath, ["-e", SERVER, "--", ...args], {
    ...{ argv0, stdio: ["ignore", "pipe", "ignore"] },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = await once(child.stdout, "data");
  return { port: Number(said), pid: child.pid };
}

async function rowsOf(bench: Workbench, input: Record<string, unknown>) {
  const { metadata } = await bench.call("NetworkConnections", input);
  return rowsSchema.parse(metadata?.sockets);
}

describe("NetworkConnections", () => {
  it("tells who listens and who is connected, and whose they are", async () => {
    const bench = await Workbench.open();
    const port = await listen();
    const from = await connectTo(port);
    const mine = { pid: process.pid, process: "node" };
    const here = (number: number) => ({ address: "127.0.0.1", port: number });
    expect(await rowsOf(bench, { port })).toEqual(
      expect.arrayContaining([
        { protocol: "tcp", local: here(port), remote: null, state: "LISTEN", ...mine },
        { protocol: "tcp", local: here(from), remote: here(port), state: "ESTABLISHED", ...mine },
      ]),
    );
    const { output } = await bench.call("NetworkConnections", { port });
    const [head, first] = output.split("\n");
    expect(head).toMatch(/^PROTO +LOCAL +REMOTE +STATE +PID +PROCESS$/);
    expect(first).toMatch(new RegExp(`^tcp +127\\.0\\.0\\.1:${port} +- +LISTEN +${process.pid} +node$`));
    expect(output).toMatch(/\[3 of 3 matching sockets, \d+ in all\]$/);
  });

  it("narrows by state, by what listens, and by port on either end", async () => {
    const bench = await Workbench.open();
    const port = await listen();
    const from = await connectTo(port);
    const statesOf = async (input: object) =>
      (await rowsOf(bench, { port, ...input })).map(({ state }) => state);
    expect(await statesOf({ state: "LISTEN" })).toEqual(["LISTEN"]);
    expect(await statesOf({ listening: true })).toEqual(["LISTEN"]);
    expect(await statesOf({ listening: false })).toEqual(["ESTABLISHED", "ESTABLISHED"]);
    expect(await statesOf({ state: "TIME_WAIT" })).toEqual([]);
    expect(await rowsOf(bench, { port: from })).toHaveLength(2);
  });

  it("tells UDP, and IPv6", async () => {
    const bench = await Workbench.open();
    const socket = createSocket("udp6");
    onTestFinished(() => void socket.close());
    await new Promise<void>((resolve) => socket.bind(0, "::1", resolve));
    const { port } = socket.address();
    // Another program may listen at the port of this number by TCP.
    const row = (await rowsOf(bench, { port, listening: true })).find(({ protocol }) => protocol === "udp");
    expect(row).toMatchObject({ local: { address: "::1" }, state: null, pid: process.pid });
    const { output } = await bench.call("NetworkConnections", { port });
    expect(output).toContain(`[::1]:${port}`);
  });

  it("says how many were left out", async () => {
    const bench = await Workbench.open();
    await listen();
    await listen();
    const { output, metadata } = await bench.call("NetworkConnections", { limit: 1 });
    expect(metadata).toMatchObject({ sockets: [{ protocol: expect.any(String) }], truncated: true });
    expect(output).toMatch(/\[\d+ more: raise limit, or narrow it with state, listening or port\]$/);
  });

  it("tells of another user's process no more than the system does", async () => {
    const bench = await Workbench.open();
    const { port, pid } = await program("server");
    const rows = await asAnotherUser(bench, () => rowsOf(bench, { port }));
    const isRoot = process.geteuid?.() === 0;
    expect(rows).toMatchObject([{ state: "LISTEN", pid: isRoot ? null : pid }]);
  });

  it("has a program's name for a name, on one line, and no arguments", async () => {
    const bench = await Workbench.open();
    const name = "odd\u001b[31m\u202ename";
    const { port, pid } = await program(name, ["--password", "hunter2hunter2"]);
    const { output, metadata } = await bench.call("NetworkConnections", { port });
    expect(metadata?.sockets).toMatchObject([{ pid, process: name }]);
    expect(JSON.stringify([output, metadata])).not.toContain("hunter2");
    expect(output).toContain("odd\\u001b[31m\\u202ename");
  });

  it.each([
    { port: 0 },
    { port: 70_000 },
    { state: "listen" },
    { listening: "yes" },
    { limit: 0 },
    { limit: 5001 },
    { pid: 1 },
  ])("refuses %j", async (input) => {
    const bench = await Workbench.open();
    expect((await failure(bench.call("NetworkConnections", input))).code).toBe("INVALID_PARAMETERS");
  });

  it("stops looking when the call is cancelled", async () => {
    const bench = await Workbench.open();
    const stop = new AbortController();
    const call = failure(bench.call("NetworkConnections", {}, { signal: stop.signal }));
    stop.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect((await call).code).toBe("CANCELLED");
  });
});
