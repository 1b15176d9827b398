/** Logs: JSON lines for programs, short lines for people on a terminal. Secrets are left out by key. */
import { Writable } from "node:stream";
import pino, { type DestinationStream, type Logger } from "pino";

const SECRETS = [
  "token",
  "auth_token",
  "secret",
  "authorization",
  "Authorization",
  "key",
  "privateKey",
  "cookie",
  "password",
  "nonce",
];
const PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

export interface LogOptions {
  level?: string | undefined;
  /** Append JSON lines here instead of writing to stderr. */
  file?: string | undefined;
}

/** The program's log: a file, else stderr, in short lines if a person sits there. */
export function makeLog({ level = "info", file }: LogOptions = {}): Logger {
  return pino({ level, redact: { paths: PATHS, censor: "[redacted]" }, base: null }, destinationOf(file));
}

function destinationOf(file: string | undefined): DestinationStream {
  if (file) return pino.destination({ dest: file, append: true, mkdir: true, sync: true, mode: 0o600 });
  if (process.stderr.isTTY) return shortLines(process.stderr);
  return pino.destination({ dest: 2, sync: true });
}

/** Turns JSON lines into `12:03:01 connected device=laptop`. */
export function shortLines(to: NodeJS.WritableStream): DestinationStream {
  return new Writable({
    write(chunk, _encoding, done) {
      to.write(`${shortLine(String(chunk))}\n`);
      done();
    },
  });
}

function shortLine(line: string): string {
  try {
    const { level, time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
    const clock = new Date(Number(time)).toTimeString().slice(0, 8);
    const facts = Object.entries(rest).map(([name, value]) => ` ${name}=${shown(value)}`);
    return `${clock} ${markOf(Number(level))}${msg}${facts.join("")}`;
  } catch {
    return line.trimEnd();
  }
}

function markOf(level: number): string {
  if (level >= 50) return "error: ";
  if (level >= 40) return "warning: ";
  return "";
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value) return JSON.stringify(value.message);
  return typeof value === "string" ? value : JSON.stringify(value);
}
