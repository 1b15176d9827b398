/** `matrx forward` on a rig, and programs of the machine that serve ports. Whatever is started ends with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { endOf, startMatrx } from "../agent/cli/matrx.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import type { Rig } from "./rig.ts";

type Line = Record<string, unknown>;

/** A folder that is gone after the test. */
export function testFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The options of a command line that acts by a token, in a home of its own. */
export function callerArgs(rig: Rig, token = rig.token, relay = rig.relay.url) {
  const home = testFolder();
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  return { home, args: ["--relay", relay, "--token-file", tokenFile] };
}

/** A running `matrx forward --json`. */
export class Forwarding {
  readonly child: ChildProcess;
  readonly ended: ReturnType<typeof endOf>;
  readonly lines: Line[] = [];
  #more = Promise.withResolvers<void>();

  private constructor(child: ChildProcess) {
    this.child = child;
    this.ended = endOf(child);
    if (!child.stdout) throw new Error("no stdout");
    createInterface({ input: child.stdout }).on("line", (text) => {
      this.lines.push(JSON.parse(text) as Line);
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    });
  }

  static async start(rig: Rig, port: number, options: { token?: string; relay?: string } = {}) {
    const { home, args } = callerArgs(rig, options.token, options.relay);
    const command = ["forward", rig.device, String(port), "--local", "0", "--json", ...args];
    const forwarding = new Forwarding(startMatrx(command, { home }));
    const { port: local } = await forwarding.line(({ state }) => state === "listening");
    return Object.assign(forwarding, { port: Number(local) });
  }

  /** The first of its lines that fits, when it is there. */
  async line(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.lines.find(fits);
      if (found) return found;
      const isOver = await Promise.race([this.#more.promise, this.ended]);
      if (isOver) throw new Error(`it ended: ${isOver.stderr}`);
    }
  }

  /** As Ctrl-C. */
  async stop() {
    this.child.kill("SIGINT");
    return await this.ended;
  }
}

/** A program that serves a port of the machine. */
export async function serve(onConnection: (socket: Socket) => void): Promise<Server & { port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

/** A program here that connects to a port. */
export async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** All that comes until FIN. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of socket.iterator({ destroyOnReturn: false })) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** A port that is free just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a program that serves a port, and waits until it does. */
export async function startServer(program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = endOf(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
    if (child.exitCode !== null) throw new Error(`${program} ended: ${(await ended).stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
