/** What a hostile page can do: servers of the attacker's, and what a page of theirs gets from other addresses. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";

export interface Wish {
  readonly method: string;
  readonly mode: "cors" | "no-cors";
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a page can read of an answer; the error's text if it can't. */
export function read(page: Page, url: string, { method, mode, body, headers }: Wish): Promise<string> {
  const init = {
    method: mode === "no-cors" && method !== "GET" ? "POST" : method,
    mode,
    credentials: "include",
    headers,
    body: body && JSON.stringify(body),
  };
  return page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then((answer) => answer.text(), (error) => error.message)`,
  );
}

/** A WebSocket opens, and something answers. */
export function socketOpens(page: Page, url: string): Promise<boolean> {
  return page.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(url.replace("http", "ws"))}, ["matrx.v1"]);
    socket.onmessage = () => resolve(true);
    socket.onclose = () => resolve(false);
    socket.onopen = () => socket.send(JSON.stringify({ action: "ping" }));
  })`);
}

/** The page runs a script from there. */
export function runsScript(page: Page, url: string): Promise<boolean> {
  return page.evaluate(`new Promise((resolve) => {
    const script = document.createElement("script");
    script.onload = () => resolve(true);
    script.onerror = () => resolve(false);
    script.src = ${JSON.stringify(url)};
    document.body.append(script);
  })`);
}

/** A server of the attacker's on this machine, until the end of the test. */
export async function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

/** A sign-in code that names another account; its signature is of no matter to the question. */
export function strangersCode(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "HS256" })}.${part({ sub: "mallory", aud: "matrx:claim" })}.${"x".repeat(43)}`;
}
