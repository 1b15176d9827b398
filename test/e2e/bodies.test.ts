/** What strangers send to the embedded relay: it takes no more of a body than it allows, and waits for no end of it. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS, TIMES } from "../../shared/limits.ts";
import { startRelay } from "../helpers/relay.ts";

const OFFERED = 256 * 1024 * 1024;
/** What a loopback connection may hold on its way, besides what was read of it, in bytes. */
const ON_THE_WAY = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, " ");
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from("\r\n")]);

async function running() {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  return relay;
}

/** A connection on which a POST was begun, and what came back until the relay closed it. */
class Posting {
  readonly socket: Socket;
  answer = "";
  sent = 0;
  readonly closed: Promise<void>;

  constructor(port: number, path: string, headers: string[]) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("utf8").on("data", (text: string) => {
      this.answer += text;
    });
    this.socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
    onTestFinished(() => void this.socket.destroy());
    const lines = [`POST ${path} HTTP/1.1`, `Host: localhost:${port}`, "Content-Type: application/json"];
    this.socket.write(`${[...lines, ...headers].join("\r\n")}\r\n\r\n`);
  }

  /** Sends this much of a body, and its end. Throws if the relay closed the connection before. */
  async send(bytes: number, isChunked: boolean): Promise<void> {
    for (let sent = 0; sent < bytes; sent += PIECE.length) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.socket.write(isChunked ? CHUNK : PIECE, (error) => (error ? reject(error) : resolve()));
      await promise;
    }
    if (isChunked) this.socket.write("0\r\n\r\n");
  }

  /** Sends a body without end, as fast as it is taken, until the relay will not have more of it. */
  async sendEndlessly(): Promise<void> {
    while (!this.socket.destroyed && this.sent < OFFERED) {
      const took = Promise.withResolvers<void>();
      this.socket.write(CHUNK, () => took.resolve());
      await Promise.race([took.promise, this.closed]);
      this.sent += PIECE.length;
    }
  }
}

test.each(["/v1/claim", "/v1/logins", "/v1/tickets", "/v1/health", "/nowhere"])(
  "%s takes no more of a chunked body than it allows",
  async (path) => {
    const { port } = await running();
    const posting = new Posting(port, path, ["Transfer-Encoding: chunked"]);
    await posting.sendEndlessly();
    expect(posting.sent).toBeLessThan(LIMITS.openBodyBytes + ON_THE_WAY);
  },
);

test.each([
  ["POST /v1/claim", 413, "Transfer-Encoding: chunked"],
  ["POST /v1/claim", 413, `Content-Length: ${LIMITS.restBodyBytes}`],
  ["POST /v1/tickets", 401, "Transfer-Encoding: chunked"],
  ["POST /v1/tickets", 401, `Content-Length: ${LIMITS.restBodyBytes}`],
  ["POST /nowhere", 404, "Transfer-Encoding: chunked"],
  ["POST /mcp", 401, `Content-Length: ${LIMITS.restBodyBytes}`],
])(
  "who reads nothing before all of 4 MiB is sent is told why %s refused it: %i, %s",
  async (line, status, length) => {
    const { port } = await running();
    const posting = new Posting(port, line.split(" ")[1] as string, [length]);
    posting.socket.pause();
    await posting.send(LIMITS.restBodyBytes, length.startsWith("Transfer"));
    posting.socket.resume();
    await expect.poll(() => posting.answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  },
);

test("who sends a part of what is refused anyway, and waits, is answered", async () => {
  const { port } = await running();
  const posting = new Posting(port, "/v1/tickets", [`Content-Length: ${LIMITS.restBodyBytes}`]);
  posting.socket.write(PIECE);
  await expect.poll(() => posting.answer, { timeout: 5000 }).toMatch(/^HTTP\/1.1 401 /);
});

test("a chunked body that is too large is told so", async () => {
  const { url } = await running();
  const body = new Blob([Buffer.alloc(LIMITS.openBodyBytes + 1, " ")]).stream();
  const init = { method: "POST", body, duplex: "half" } as const;
  const response = await fetch(`${url}/v1/claim`, init);
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ limit_bytes: LIMITS.openBodyBytes });
});

test.each(["/v1/claim", "/v1/tickets", "/nowhere"])(
  "bodies that break off leave one line in the log, however many they are: %s",
  async (path) => {
    const { port, url, dataDir } = await running();
    for (let n = 0; n < 100; n++) {
      const posting = new Posting(port, path, ["Content-Length: 1000"]);
      await new Promise((resolve) => posting.socket.write('{"code', resolve));
      posting.socket.destroy();
    }
    const log = () => readFileSync(join(dataDir, "relay.log"), "utf8");
    await expect.poll(log).toContain("broke off");
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    expect(log().trimEnd().split("\n")).toHaveLength(1);
  },
);

test("a hundred unfinished bodies are let go together, and the relay answers meanwhile", {
  timeout: TIMES.openBodyWithin + 30_000,
}, async () => {
  const { port, url } = await running();
  const postings = Array.from({ length: 100 }, () => {
    const posting = new Posting(port, "/v1/pairings", [`Content-Length: ${LIMITS.openBodyBytes}`]);
    posting.socket.write(PIECE.subarray(1));
    return posting;
  });
  const health = await fetch(`${url}/v1/health`);
  expect(health.status).toBe(200);
  await Promise.all(postings.map(({ closed }) => closed));
  expect(new Set(postings.map(({ answer }) => answer.split("\r\n")[0]))).toEqual(
    new Set(["HTTP/1.1 400 Bad Request"]),
  );
});
