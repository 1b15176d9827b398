/** Somebody who visits a port of a rig's device at its own host, as a browser does. `fetch` would not let a test name the host. */
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { type PortLink, portLinkSchema } from "../../shared/port-link-api.ts";
import type { Person } from "./person.ts";
import type { Rig } from "./rig.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Wish {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

export async function linkTo(rig: Rig, person: Person, port: number, minutes = 60): Promise<PortLink> {
  const answer = await person.ask("POST", `/v1/devices/${rig.device}/port-links`, { port, minutes });
  expect(answer).toMatchObject({ status: 201 });
  return portLinkSchema.parse(answer.body);
}

/** Asks the relay at a host of its. */
export async function askAt(rig: Rig, host: string, path: string, wish: Wish = {}): Promise<Reply> {
  const response = await startAt(rig, host, path, wish);
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** The same, without reading the body. */
export async function startAt(
  rig: Rig,
  host: string,
  path: string,
  { method = "GET", headers = {}, body }: Wish = {},
): Promise<IncomingMessage> {
  const request = httpRequest({
    ...{ host: "127.0.0.1", port: rig.relay.port, method, path, agent: false },
    headers: { Host: host, ...headers },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

export class Visitor {
  readonly host: string;
  readonly cookie: string;
  readonly #rig: Rig;

  private constructor(rig: Rig, host: string, cookie: string) {
    this.#rig = rig;
    this.host = host;
    this.cookie = cookie;
  }

  /** Opens a link. */
  static async enter(rig: Rig, { url }: Pick<PortLink, "url">): Promise<Visitor> {
    const { host, pathname } = new URL(url);
    const entered = await askAt(rig, host, pathname);
    expect(entered).toMatchObject({ status: 303, headers: { location: "/" } });
    const [cookie = ""] = entered.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
    return new Visitor(rig, host, cookie.split(";", 1)[0] ?? "");
  }

  get origin(): string {
    return `http://${this.host}`;
  }

  ask(path: string, { headers = {}, ...wish }: Wish = {}): Promise<Reply> {
    return askAt(this.#rig, this.host, path, { ...wish, headers: { Cookie: this.cookie, ...headers } });
  }

  start(path: string): Promise<IncomingMessage> {
    return startAt(this.#rig, this.host, path, { headers: { Cookie: this.cookie } });
  }

  socket(path: string, protocols: string[] = [], headers: Record<string, string> = {}): WebSocket {
    return new WebSocket(`ws://127.0.0.1:${this.#rig.relay.port}${path}`, protocols, {
      headers: { Host: this.host, Cookie: this.cookie, Origin: this.origin, ...headers },
    });
  }
}
