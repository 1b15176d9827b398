/** The MCP servers that this machine mounts, and all tools of the device: its own, and theirs. */
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import type { MountSettings, ServerSettings } from "../config/mount-settings.ts";
import { jsonSchemaOf } from "../core/manifest.ts";
import type { Tool } from "../core/tool.ts";
import type { ToolSource } from "../core/tool-source.ts";
import type { Pictures } from "../pictures/pictures.ts";
import { loginEnvironment } from "../platform/login-environment.ts";
import { type ChildOptions, ChildTransport, endLeftovers } from "./child-transport.ts";
import type { ConfineServer } from "./confine.ts";
import { httpTransport } from "./http-transport.ts";
import { mountMark } from "./mark.ts";
import { MOUNT_TIMES, Mount, type MountTimes, type MountTransport, type MountView } from "./mount.ts";
import { Pin } from "./pin.ts";
import { pinFileOf } from "./pin-file.ts";
import { programParts } from "./program-parts.ts";

const TOOLS_MAX = 400;
/** Of the manifest's one frame, for what is neither a tool of the device's own nor a mounted one. */
const OTHER_BYTES = 24 * 1024;
/** Changes are told no faster, in milliseconds. */
const TELL_EVERY = 1000;

export interface MountsOptions {
  readonly servers: MountSettings | undefined;
  /** The device's own tools. */
  readonly tools: readonly Tool[];
  /** Where servers run, unless their settings say otherwise. */
  readonly runIn: string;
  /** A folder that only one program uses at a time; names our processes. */
  readonly folder: string;
  /** Where it is kept what was allowed of each server. */
  readonly pins: string;
  readonly confine: ConfineServer;
  /** A server, or some of its tools, is closed until the owner allows it; `why` is undefined once none is. */
  readonly onClosed: (server: string, why: string | undefined) => void;
  readonly pictures: Pictures;
  readonly log: Logger;
  readonly times?: MountTimes | undefined;
}

export class Mounts implements ToolSource {
  readonly #own: readonly Tool[];
  readonly #log: Logger;
  readonly #mounts: readonly Mount[];
  readonly #pictures: Pictures;
  readonly #listeners = new Set<() => void>();
  #current: readonly Tool[];
  #leftOut: readonly string[] = [];
  /** For the descriptions of all mounted tools. */
  readonly #room: number;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** Starts them in the background. */
  constructor(options: MountsOptions) {
    const { servers = {}, tools, runIn, folder, pins, confine, pictures, log, times = MOUNT_TIMES } = options;
    this.#pictures = pictures;
    this.#own = tools;
    this.#current = tools;
    const own = tools.reduce((bytes, tool) => bytes + announcedBytes(tool), 0);
    this.#room = LIMITS.registerFrameBytes - OTHER_BYTES - own;
    this.#log = log;
    this.#mounts = Object.entries(servers)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, settings]) => {
        const mark = mountMark(folder, name);
        const childLog = log.child({ server: name });
        const transport = async () =>
          await transportOf(settings, {
            ...{ mark, env: await loginEnvironment(process.env), runIn, confine, log: childLog },
          });
        const program = async () =>
          "url" in settings ? [] : await programParts(settings, await loginEnvironment(process.env), runIn);
        const pin =
          settings.changes === "allow"
            ? undefined
            : new Pin({ file: pinFileOf(pins, name, settings), server: name, log });
        return new Mount({
          ...{ program, pin, onClosed: (why) => options.onClosed(name, why) },
          ...{ name, settings, transport, times, log, pictures },
          onChange: () => this.#changed(),
        });
      });
  }

  current(): readonly Tool[] {
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How each server stands. */
  get views(): readonly MountView[] {
    const announced = new Set(this.#current.map(({ name }) => name));
    return this.#mounts.map(({ view }) => ({
      ...view,
      tools: view.tools.filter((name) => announced.has(name)),
      left_out: [
        ...view.left_out,
        ...this.#leftOut.filter((text) => view.tools.some((name) => text.startsWith(`${name}:`))),
      ],
    }));
  }

  /** Resolves once each has run, or failed, for the first time. */
  get settled(): Promise<unknown> {
    return Promise.all(this.#mounts.map(({ settled }) => settled));
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#listeners.clear();
    await Promise.all(this.#mounts.map((mount) => mount.close()));
    this.#pictures.close();
  }

  #changed(): void {
    this.#gather();
    this.#isDue = true;
    if (this.#timer === undefined) this.#tell();
  }

  #tell(): void {
    this.#timer = undefined;
    if (!this.#isDue) return;
    this.#isDue = false;
    this.#timer = setTimeout(() => this.#tell(), TELL_EVERY).unref();
    for (const listener of this.#listeners) listener();
  }

  /** All tools, as many as fit. A mounted one never takes the name of another. */
  #gather(): void {
    const names = new Set(this.#own.map(({ name }) => name));
    const mounted: Tool[] = [];
    const leftOut: string[] = [];
    let bytes = 0;
    for (const tool of this.#mounts.flatMap(({ tools }) => tools)) {
      const size = announcedBytes(tool);
      if (names.has(tool.name)) leftOut.push(`${tool.name}: another tool has this name`);
      else if (mounted.length >= TOOLS_MAX)
        leftOut.push(`${tool.name}: at most ${TOOLS_MAX} tools are mounted`);
      else if (bytes + size > this.#room) leftOut.push(`${tool.name}: there is no room left to announce it`);
      else {
        bytes += size;
        names.add(tool.name);
        mounted.push(tool);
      }
    }
    if (leftOut.length > this.#leftOut.length)
      this.#log.warn({ left_out: leftOut.slice(0, 20) }, "mounted tools are left out");
    this.#leftOut = leftOut;
    this.#current = [...this.#own, ...mounted];
  }
}

/** What it takes in the manifest, with what the device adds. */
function announcedBytes({ name, title, description, details, input, output }: Tool): number {
  const schemas = [jsonSchemaOf(input, "input"), output && jsonSchemaOf(output, "output")];
  return Buffer.byteLength(JSON.stringify([name, title, description, details, schemas])) + UNAVAILABLE_BYTES;
}

/** Why the tool cannot be used just now, and its keys. */
const UNAVAILABLE_BYTES = 500;

async function transportOf(
  settings: ServerSettings,
  child: Omit<ChildOptions, "settings">,
): Promise<MountTransport> {
  if ("url" in settings) return httpTransport(settings);
  await endLeftovers(child.mark);
  return new ChildTransport({ settings, ...child });
}
