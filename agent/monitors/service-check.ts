/** Checks once whether a service responds: with a GET, or a TCP connection. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect } from "node:net";

export type Service = HttpService | TcpService;

export interface HttpService {
  readonly name: string;
  readonly url: string;
  /** The one status that counts as well; absent: any below 500. */
  readonly status?: number | undefined;
}

export interface TcpService {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Why the service is down; undefined if it is up. Never rejects. */
export type CheckService = (service: Service, signal: AbortSignal) => Promise<string | undefined>;

export const checkService: CheckService = async (service, signal) => {
  try {
    return await ("url" in service ? getsAnswer(service, signal) : takesConnection(service, signal));
  } catch (error) {
    if (signal.aborted) return "It did not respond in time";
    return reasonOf(error);
  }
};

/** A service's address, without the possibly secret parts of its URL. */
export function addressOf(service: Service): string {
  if (!("url" in service)) return `${service.host}:${service.port}`;
  const { origin, pathname } = new URL(service.url);
  return `${origin}${pathname}`;
}

function getsAnswer({ url, status }: HttpService, signal: AbortSignal): Promise<string | undefined> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    // Use a new connection: one that was kept alive may predate the failure.
    const asked = request(url, { agent: false, signal, headers: { "User-Agent": "matrx-monitor" } });
    asked.on("error", reject);
    asked.on("response", (response) => {
      const got = response.statusCode ?? 0;
      const fits = status === undefined ? got < 500 : got === status;
      resolve(fits ? undefined : `It answered with status ${got}`);
      asked.destroy();
    });
    asked.end();
  });
}

function takesConnection({ host, port }: TcpService, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.on("error", reject);
    socket.on("connect", () => {
      resolve(undefined);
      socket.destroy();
    });
  });
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ECONNREFUSED":
      return "Nothing is listening there (ECONNREFUSED)";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Its name cannot be resolved (${code})`;
    case "ECONNRESET":
      return "It closed the connection without responding (ECONNRESET)";
    default:
      return code ? `It cannot be reached (${code})` : "It cannot be reached";
  }
}
