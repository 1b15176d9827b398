/** The terminals of this device, as the agent sees them: each belongs to a grant, and the owner sees all. */
import { join } from "node:path";
import { agentError, type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { Mutex } from "@matrx/shared/mutex.ts";
import { isClosedTo, type Paused } from "@matrx/shared/paused.ts";
import * as z from "zod";
import { notRecorded, otherShell, type Rights, shellOf } from "../core/gate.ts";
import { markedEnvironment } from "../platform/environment.ts";
import { loginEnvironment } from "../platform/login-environment.ts";
import type { Wrapped } from "../platform/platform.ts";
import { confinedProgram } from "./confined-program.ts";
import { type Attachment, HolderLink } from "./holder-link.ts";
import {
  type AttachRequest,
  type HolderLimits,
  infoSchema,
  screenSchema,
  TERMINAL_LIMITS,
  type TerminalInfo,
  type TerminalRecord,
  type TerminalScreen,
  type TerminalSignal,
} from "./protocol.ts";
import { newRecording } from "./recordings.ts";
import { writeShellScripts } from "./shell.ts";
import { holderEndpoint, openHolder } from "./start-holder.ts";

export interface TerminalsOptions {
  /** The folder of the holder: below the agent's state, closed to all tools. */
  readonly folder: string;
  /** The agent's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly limits?: Partial<HolderLimits>;
}

export interface NewTerminal {
  readonly grant: Pick<GrantScope, "id" | "owner">;
  readonly session: string;
  readonly name?: string | undefined;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly cols: number;
  readonly rows: number;
  /** Variables besides those of all terminals. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it may be closed to make room when it is idle. */
  readonly spare?: boolean;
  /** Whether what it shows is recorded. */
  readonly recorded?: boolean;
  /** What the marks of its shell carry. */
  readonly nonce?: string;
  /** Set if it runs in the sandbox: how it is confined (`shellOf`), and what is started instead of the program. */
  readonly confinement?: { readonly limits: string; readonly wrapped: Wrapped };
}

type Who = Pick<GrantScope, "id" | "owner">;

export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #env: NodeJS.ProcessEnv;
  /** Those in which a call runs a command, or is about to. */
  readonly taken = new Set<string>();
  /** Those whose shell waits for the rest of a command, until somebody presses keys in it or names it for another one. */
  readonly unfinished = new Set<string>();
  /** Each that is opened counts for the next one. */
  readonly #opening = new Mutex();
  #link: Promise<HolderLink> | undefined;
  /** The last answer that was asked for, and the one that will be asked for after it. */
  #list: Promise<unknown> = Promise.resolve();
  #nextList: Promise<TerminalInfo[]> | undefined;
  /** The holder that was last spoken to; another one knows nothing of its terminals. */
  #holder: number | undefined;
  #lost = false;

  constructor(options: TerminalsOptions) {
    this.#options = options;
    this.#env = options.env ?? process.env;
  }

  /** That of the user after a login. */
  environment(): Promise<NodeJS.ProcessEnv> {
    return loginEnvironment(this.#env);
  }

  /** Throws MatrxError. */
  create(wanted: NewTerminal): Promise<string> {
    return this.#opening.runExclusive(async () => {
      await this.#makeRoom(wanted.grant);
      return this.#create(wanted);
    });
  }

  async #create(wanted: NewTerminal): Promise<string> {
    const { grant, session, name, file, cwd, cols, rows, confinement, nonce = randomBase32(20) } = wanted;
    const id = `term_${randomBase32(10)}`;
    const record: TerminalRecord = {
      ...{ grant: grant.id, owner: grant.owner, session, shell: file, cwd },
      ...{ confined: confinement?.limits ?? "free", marks: wanted.nonce !== undefined },
      spare: wanted.spare ?? false,
      ...(name !== undefined && { name }),
      started: Date.now(),
    };
    const link = await this.#connect();
    if (wanted.recorded && !link.welcome.records) throw cannotRecord(link.welcome.pid);
    const recording = wanted.recorded
      ? newRecording(join(this.#options.folder, "recordings"), id, new Date())
      : undefined;
    const program = confinement
      ? confinedProgram(join(this.#options.folder, id), confinement.wrapped, {
          ...wanted.env,
          ...markedEnvironment(id),
        })
      : {
          ...{ file, args: wanted.args, cwd },
          env: { ...terminalEnvironment(await this.environment(), id), ...wanted.env },
        };
    const request = { id, ...program, cols, rows, nonce, recording, record };
    await link.ask("create", request, z.object({ pid: z.int() }));
    return id;
  }

  async #makeRoom(grant: Who): Promise<void> {
    const own = (await this.list(grant)).filter(({ record }) => record.grant === grant.id);
    if (own.length < TERMINAL_LIMITS.mostPerGrant) return;
    const idle = own.find(({ id, record, state, viewers }) => {
      return record.spare && state === "prompt" && viewers.length === 0 && !this.taken.has(id);
    });
    if (!idle) throw tooMany(own.length);
    await this.close(idle.id, grant);
  }

  /** The folder of what shells read at their start. */
  shellScripts(): string {
    const folder = join(this.#options.folder, "shells");
    writeShellScripts(folder);
    return folder;
  }

  /** Those that a grant may see. Starts no holder. Throws MatrxError. */
  async list(grant: Who): Promise<TerminalInfo[]> {
    return (await this.#all()).filter(({ record }) => grant.owner || record.grant === grant.id);
  }

  /** Whoever asks while an answer is awaited shares the next one: many come back at once when a connection does. */
  #all(): Promise<TerminalInfo[]> {
    this.#nextList ??= (async () => {
      await this.#list.catch(() => undefined);
      this.#nextList = undefined;
      const list = this.#listed();
      this.#list = list;
      return await list;
    })();
    return this.#nextList;
  }

  async #listed(): Promise<TerminalInfo[]> {
    const link = await this.#living();
    return link ? await link.ask("list", {}, z.array(infoSchema)) : [];
  }

  /** The same for a caller that wants to see or use it. Throws MatrxError `PERMISSION_DENIED` if it is confined in another way. */
  async enter(id: string, { grant, rights }: { readonly grant: Who; readonly rights: Rights }) {
    const found = await this.find(id, grant);
    const refusal = refusalOfEntry(found, rights);
    if (refusal) throw refusal;
    return found;
  }

  /** Throws MatrxError `NOT_FOUND` also for another grant's terminal. */
  async find(id: string, grant: Who): Promise<TerminalInfo> {
    const found = (await this.list(grant)).find((one) => one.id === id);
    if (found) return found;
    const shown = id.slice(0, 64);
    const why = this.#lost ? "; all terminals were lost when the program that held them ended" : "";
    throw toolError("NOT_FOUND", `No terminal ${shown}${why}`, {
      hint: "List the terminals that are open, or open another one",
      details: { terminal: shown, ...(this.#lost && { reason: "TERMINALS_LOST" }) },
    });
  }

  /** Its output from a byte on, or from its screen on, over a connection of its own. Throws MatrxError. */
  async attach(request: AttachRequest, grant: Who): Promise<Attachment> {
    await this.find(request.id, grant);
    const link = await openHolder(this.#options.folder, this.#env, this.#options.limits ?? {});
    try {
      return await link.attach(request);
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /** The same for one who wants the bytes from a number on; if they are no longer kept, or without one: a snapshot. Throws MatrxError. */
  async view(
    { from, ...request }: Omit<AttachRequest, "from"> & { readonly from: number | undefined },
    grant: Who,
  ): Promise<Attachment> {
    if (from !== undefined) {
      const attachment = await this.attach({ ...request, from }, grant);
      if (attachment.attached.lost === 0) return attachment;
      attachment.close();
    }
    return await this.attach({ ...request, from: "snapshot" }, grant);
  }

  /** Throws MatrxError. */
  async screen(id: string, grant: Who): Promise<TerminalScreen> {
    return await this.#ask("screen", { id }, grant, screenSchema);
  }

  /** Types bytes. Throws MatrxError. */
  async write(id: string, bytes: Uint8Array, grant: Who): Promise<void> {
    if (bytes.length > TERMINAL_LIMITS.inputBytes) throw tooLong(bytes.length);
    await this.#ask("write", { id, base64: Buffer.from(bytes).toString("base64") }, grant, z.null());
  }

  /** Throws MatrxError. */
  async resize(
    id: string,
    size: { readonly cols: number; readonly rows: number },
    grant: Who,
  ): Promise<void> {
    const cells = z.int().min(1).max(TERMINAL_LIMITS.mostCells);
    if (!z.object({ cols: cells, rows: cells }).safeParse(size).success) throw wrongSize();
    await this.#ask("resize", { id, ...size }, grant, z.null());
  }

  /** Throws MatrxError. */
  async signal(id: string, signal: TerminalSignal, grant: Who): Promise<void> {
    await this.#ask("signal", { id, signal }, grant, z.null());
  }

  /** Ends it with all that it started; resolves with the processes that could not be ended: usually none. Throws MatrxError. */
  async close(id: string, grant: Who): Promise<number[]> {
    const left = await this.#ask("close", { id }, grant, z.array(z.int()));
    this.unfinished.delete(id);
    return left;
  }

  /** Closes all terminals of some grants. */
  async endOf(isMeant: (grant: string) => boolean): Promise<void> {
    await this.#closeAll(({ record }) => isMeant(record.grant));
  }

  /** Closes the terminals of those whom a pause concerns. */
  async stopFor(paused: Paused): Promise<void> {
    await this.#closeAll(({ record: { owner } }) => isClosedTo(paused, { owner }));
  }

  /** Lets go of the holder; terminals go on, and the next agent finds them. */
  disconnect(): void {
    this.#link?.then((link) => link.close()).catch(() => undefined);
    this.#link = undefined;
  }

  async #closeAll(isMeant: (terminal: TerminalInfo) => boolean): Promise<void> {
    const link = await this.#living();
    if (!link) return;
    const all = await link.ask("list", {}, z.array(infoSchema));
    for (const { id } of all.filter(isMeant)) {
      await link.ask("close", { id }, z.array(z.int()));
      this.unfinished.delete(id);
    }
  }

  async #ask<Schema extends z.ZodType>(
    op: string,
    request: { readonly id: string; readonly [field: string]: unknown },
    grant: Who,
    result: Schema,
  ): Promise<z.infer<Schema>> {
    await this.find(request.id, grant);
    return await (await this.#connect()).ask(op, request, result);
  }

  /** A holder that lives already. */
  async #living(): Promise<HolderLink | undefined> {
    const open = await this.#link?.catch(() => undefined);
    if (open?.isOpen) return open;
    const found = await HolderLink.open(holderEndpoint(this.#options.folder));
    if (found) return this.#use(found);
    if (this.#holder !== undefined) this.#lost = true;
    return undefined;
  }

  async #connect(): Promise<HolderLink> {
    const living = await this.#living();
    if (living) return living;
    const { folder, limits = {} } = this.#options;
    this.#link = openHolder(folder, this.#env, limits);
    return this.#use(await this.#link);
  }

  #use(link: HolderLink): HolderLink {
    const { pid } = link.welcome;
    if (this.#holder !== undefined && this.#holder !== pid) this.#lost = true;
    this.#holder = pid;
    this.#link = Promise.resolve(link);
    return link;
  }
}

/** That of commands, and what programs want to know of the terminal. */
function terminalEnvironment(login: NodeJS.ProcessEnv, id: string): Record<string, string> {
  const isOfOther = (name: string) => /^(?:TERM_PROGRAM|CI$|COLUMNS$|LINES$|SHLVL$)/.test(name);
  const own = Object.entries(login).flatMap(([name, value]) =>
    value === undefined || isOfOther(name) ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(own),
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    ...markedEnvironment(id),
  };
}

function tooMany(open: number): MatrxError {
  return toolError("RATE_LIMITED", `${open} terminals are open, the most one token may have at once`, {
    hint: "Close one of them first",
    details: { limit: TERMINAL_LIMITS.mostPerGrant },
  });
}

/** Why a caller with these rights may not see or use a terminal of its own grant. */
export function refusalOfEntry(
  { record, recorded, exit }: TerminalInfo,
  rights: Rights,
): MatrxError | undefined {
  if (rights.shell === "sandbox" && record.confined !== shellOf(rights)) return otherShell();
  return rights.recordsTerminals && !recorded && !exit ? notRecorded() : undefined;
}

function cannotRecord(holder: number): MatrxError {
  return agentError(
    "UNAVAILABLE",
    "Terminals are recorded here, and the program that holds them is too old for that",
    {
      hint: `Close all terminals, or end process ${holder}; then open this one again`,
      details: { reason: "HOLDER_VERSION", pid: holder },
    },
  );
}

function tooLong(bytes: number): MatrxError {
  return agentError("PAYLOAD_TOO_LARGE", `${bytes} bytes are too many to type at once`, {
    hint: `Type at most ${TERMINAL_LIMITS.inputBytes} bytes at a time`,
    details: { limit: TERMINAL_LIMITS.inputBytes },
  });
}

function wrongSize(): MatrxError {
  return toolError("INVALID_PARAMETERS", "The size is not that of a terminal", {
    hint: `Columns and rows are whole numbers from 1 to ${TERMINAL_LIMITS.mostCells}`,
    details: { limit: TERMINAL_LIMITS.mostCells },
  });
}
