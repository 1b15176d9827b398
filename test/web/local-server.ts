/** `matrx serve` as a process of its own, for pages that speak to it. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { homeOf } from "../../agent/config/app-dirs.ts";
import { listenAt } from "../../agent/local/loopback.ts";
import { localToken } from "../../agent/local/token.ts";
import { lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";

const saidSchema = z.looseObject({ url: z.string() });

/** Where a local server of one test keeps its files, its token among them. */
export class LocalHome {
  readonly folder = temporaryFolder();
  readonly token: string;

  constructor() {
    this.token = localToken(homeOf({ MATRX_HOME: this.folder }));
  }

  /** Starts a server that takes pages of these origins; 0: any free port. */
  async serve(origins: readonly string[], port: string | number = 0) {
    const allowed = origins.flatMap((origin) => ["--allow-origin", origin]);
    const child = startMatrx(["serve", "--json", "--port", `${port}`, ...allowed], { home: this.folder });
    const { url } = saidSchema.parse(await lineOf(child, (line) => "web_socket" in line));
    const stop = async () => {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "exit");
    };
    return { url, port: new URL(url).port, stop };
  }
}

/** A port where nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenAt(server, "127.0.0.1", 0);
  server.close();
  await once(server, "close");
  return port;
}

/** Another program, which any page may read: its address, and what it was sent. */
export async function anotherProgram() {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers);
    response.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "text/html" });
    response.end("<h1>Hello</h1>");
  });
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${await listenAt(server, "127.0.0.1", 0)}`, received };
}
