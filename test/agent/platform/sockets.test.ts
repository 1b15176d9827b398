/** Sockets as each system tells them; macOS and Windows are not run here. */
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { darwinSockets, type LibrarySocket } from "../../../agent/platform/darwin/sockets.ts";
import { linuxSockets, parseSockets } from "../../../agent/platform/linux/sockets.ts";
import { chosen, type SocketFacts } from "../../../agent/platform/sockets.ts";
import { parseEndpoints } from "../../../agent/platform/windows/sockets.ts";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (local: string, remote: string, state: string, inode = 77) =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0`;

describe("Linux", () => {
  it.each([
    ["0100007F:1F90", "00000000:0000", "0A", "127.0.0.1", 8080, null, "LISTEN"],
    ["0501A8C0:D431", "08080808:01BB", "01", "192.168.1.5", 54321, "8.8.8.8", "ESTABLISHED"],
    ["0501A8C0:D431", "08080808:01BB", "06", "192.168.1.5", 54321, "8.8.8.8", "TIME_WAIT"],
    ["0501A8C0:D431", "08080808:01BB", "0C", "192.168.1.5", 54321, "8.8.8.8", "SYN_RECEIVED"],
    ["0501A8C0:D431", "08080808:01BB", "3F", "192.168.1.5", 54321, "8.8.8.8", null],
  ])("IPv4: %s %s %s", (local, remote, code, address, port, other, state) => {
    expect(parseSockets([HEAD, row(local, remote, code), ""].join("\n"), "tcp", "LE")).toEqual([
      {
        protocol: "tcp",
        local: { address, port },
        remote: other && { address: other, port: 443 },
        ...{ state, inode: "77" },
      },
    ]);
  });

  it.each([
    ["00000000000000000000000000000000:0016", "::"],
    ["00000000000000000000000001000000:0016", "::1"],
    ["B80D01200000000000000000EFBE0000:0016", "2001:db8::beef"],
    ["0000000000000000FFFF00000100007F:0016", "::ffff:127.0.0.1"],
  ])("IPv6: %s is %s", (local, address) => {
    const [socket] = parseSockets(row(local, `${"0".repeat(32)}:0000`, "0A"), "tcp", "LE");
    expect(socket?.local).toEqual({ address, port: 22 });
  });

  it("reads the numbers of a machine that begins with the large end", () => {
    const [socket] = parseSockets(row("7F000001:0016", "00000000:0000", "0A"), "tcp", "BE");
    expect(socket?.local.address).toBe("127.0.0.1");
  });

  it("has no states for UDP", () => {
    const [socket] = parseSockets(row("0100007F:0035", "00000000:0000", "07"), "udp", "LE");
    expect(socket).toMatchObject({ protocol: "udp", remote: null, state: null });
  });

  it("finds this very process, by the port that it listens on", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const found = await linuxSockets.find({ isWanted: ({ local }) => local.port === port, most: 5 });
    expect(found.sockets).toEqual([
      {
        ...{ protocol: "tcp", local: { address: "127.0.0.1", port }, remote: null, state: "LISTEN" },
        ...{ pid: process.pid, process: "node" },
      },
    ]);
    expect(found).toMatchObject({ matching: 1, total: expect.any(Number) });
  });
});

describe("macOS", () => {
  const found = (row: Partial<LibrarySocket>) =>
    darwinSockets(async () => [
      {
        ...{ protocol: "tcp4", localAddress: "127.0.0.1", localPort: "8080" },
        ...{ peerAddress: "*", peerPort: "*", state: "LISTEN", pid: 7, process: "/usr/sbin/sshd -D" },
        ...row,
      },
    ]).find({ isWanted: () => true, most: 1 });

  test.each([
    [{}, { protocol: "tcp", remote: null, state: "LISTEN", pid: 7, process: "sshd" }],
    [
      { peerAddress: "10.0.0.1", peerPort: "443", state: "FIN_WAIT2" },
      { remote: { address: "10.0.0.1", port: 443 }, state: "FIN_WAIT_2" },
    ],
    [
      { protocol: "udp46", localAddress: "*", localPort: "5353", state: "UNKNOWN" },
      { protocol: "udp", local: { address: "::", port: 5353 }, remote: null, state: null },
    ],
    [
      { protocol: "udp4", localAddress: "*", localPort: "*" },
      { local: { address: "0.0.0.0", port: 0 }, state: null },
    ],
    [
      { process: "/Applications/My Notes.app/Contents/MacOS/My Notes --token=secret", pid: 9 },
      { process: "My Notes", pid: 9 },
    ],
    [
      { pid: Number.NaN, process: "" },
      { pid: null, process: null },
    ],
  ])("the library's %j", async (given, wanted) => {
    expect((await found(given)).sockets).toMatchObject([wanted]);
  });
});

describe("Windows", () => {
  const tcp = { local: "::", port: 445, remote: "::", remote_port: 0, state: 2, pid: 4, name: "System" };

  test("its inventory", () => {
    const text = JSON.stringify({
      tcp: [
        tcp,
        { ...tcp, remote: "10.0.0.1", remote_port: 443, state: 5, pid: 88, name: "msedge" },
        { ...tcp, remote: "10.0.0.1", remote_port: 443, state: 11, pid: 0, name: "Idle" },
        { ...tcp, state: 100, pid: 99, name: null },
      ],
      udp: [{ local: "0.0.0.0", port: 5353, pid: 12, name: "svchost" }],
    });
    expect(parseEndpoints(text)).toMatchObject([
      {
        protocol: "tcp",
        local: { address: "::", port: 445 },
        remote: null,
        state: "LISTEN",
        process: "System",
      },
      { remote: { address: "10.0.0.1", port: 443 }, state: "ESTABLISHED", pid: 88, process: "msedge" },
      { state: "TIME_WAIT", pid: null, process: null },
      { state: "CLOSED", pid: 99, process: null },
      { protocol: "udp", remote: null, state: null, pid: 12, process: "svchost" },
    ]);
  });
});

test("what listens comes first, then by port, and what is cut is counted", () => {
  const socket = (
    port: number,
    state: SocketFacts["state"],
    protocol: "tcp" | "udp" = "tcp",
  ): SocketFacts => ({
    ...{ protocol, state, local: { address: "::", port } },
    remote: state === "ESTABLISHED" ? { address: "::", port: 1 } : null,
  });
  const all = [
    ...[socket(9, "ESTABLISHED"), socket(8, "LISTEN"), socket(5, "ESTABLISHED")],
    ...[socket(7, null, "udp"), socket(3, "CLOSED")],
  ];
  const found = chosen(all, { isWanted: ({ state }) => state !== "CLOSED", most: 3 });
  expect(found.sockets.map(({ local }) => local.port)).toEqual([7, 8, 5]);
  expect(found).toMatchObject({ matching: 4, total: 5 });
});
