/** The terminals that the person sees, by the numbers that AIs have of them. If none are in the page, it goes where they are. */
import type { Mutex } from "@matrx/shared/mutex.ts";
import type { Success } from "../../calls/call-tool.ts";
import {
  activated,
  activePane,
  allPanes,
  MOST_PANES,
  type Pane,
  without,
  withTab,
} from "../terminal/layout.ts";
import {
  type CreatedTerminal,
  createdTerminal,
  type OpenTerminal,
  openTerminals,
  shellName,
} from "../terminal/messages.ts";
import { type MountedTerminals, useMountedTerminals } from "../terminal/mounted.ts";
import { paneOf } from "../terminal/use-terminals.ts";
import { conflict, PageToolError, tooMuch } from "./failure.ts";
import type { Acting, Reading } from "./machine.ts";
import type { Place, TerminalIds } from "./terminal-ids.ts";
import { untilThere } from "./waiting.ts";

/** In milliseconds: for the page, and for a terminal to have its size. */
const PAGE_WITHIN = 30_000;
const LIVE_WITHIN = 5_000;

/** A terminal of the page that runs. */
export interface RunningPane {
  readonly id: number;
  readonly pane: Pane;
  readonly terminal: OpenTerminal;
  readonly isFocused: boolean;
}

export interface NewPane {
  readonly id: number;
  readonly pane: Pane;
  /** The name of its shell. */
  readonly shell: string;
}

interface Parts {
  readonly device: string;
  readonly ids: TerminalIds;
  readonly showing: Mutex;
  readonly goThere: () => void;
  readonly signal: AbortSignal;
}

export class PageTerminals {
  readonly #device: string;
  readonly #ids: TerminalIds;
  /** One is shown after another, also of several calls. */
  readonly #showing: Mutex;
  readonly #goThere: () => void;
  readonly #signal: AbortSignal;

  constructor({ device, ids, showing, goThere, signal }: Parts) {
    this.#device = device;
    this.#ids = ids;
    this.#showing = showing;
    this.#goThere = goThere;
    this.#signal = signal;
  }

  /** Those that run, in the order of the page. */
  async list({ read }: Reading): Promise<readonly RunningPane[]> {
    const { layout } = await this.#mounted();
    const running = openTerminals((await read("TerminalList", {})).metadata);
    const panes = allPanes(layout);
    const active = activePane(layout)?.id;
    return panes.flatMap((pane) => {
      const terminal = running.find((one) => one.terminal === pane.terminal);
      if (!terminal) return [];
      return { id: this.#ids.idOf(pane.terminal), pane, terminal, isFocused: pane.id === active };
    });
  }

  /** Whether it runs or has ended; undefined: no pane has this number. */
  async find(id: number): Promise<Pane | undefined> {
    const { layout } = await this.#mounted();
    return allPanes(layout).find(({ terminal }) => this.#ids.idOf(terminal) === id);
  }

  /** Opens a terminal in a tab of its own. Throws PageToolError, ApiError. */
  async create(acting: Acting, place?: Place): Promise<NewPane> {
    const { layout } = await this.#mounted();
    if (allPanes(layout).length >= MOST_PANES)
      throw tooMuch(
        `No more than ${MOST_PANES} terminals are shown at once`,
        "Close one with terminal_close",
      );
    const close = ({ terminal }: CreatedTerminal) => acting.undo("TerminalClose", { terminal });
    const created = createdIn(await acting.run("TerminalCreate", {}, (late) => close(createdIn(late))));
    try {
      const pane = paneOf(created, false);
      const { change } = await this.#mounted();
      change((now) => withTab(now, pane));
      return { id: this.#ids.idOf(created.terminal, place), pane, shell: created.name };
    } catch (error) {
      // Nobody would see it.
      close(created);
      throw error;
    }
  }

  /** Shows a pane, and lets it settle: what runs in it should find it in its size. */
  async show(pane: Pane): Promise<void> {
    await this.#showing.runExclusive(() => this.#shown(pane));
  }

  async #shown(pane: Pane): Promise<void> {
    const { change, room } = await this.#mounted();
    change((now) => activated(now, pane.id));
    const patience = { within: LIVE_WITHIN, signal: this.#signal };
    // The person may choose another one meanwhile.
    await untilThere(useMountedTerminals, ({ mounted }) => isActive(pane, mounted), patience);
    const view = await untilThere(room.useViews, ({ views }) => views.get(pane.id)?.view, patience);
    if (!view) return;
    await untilThere(
      view.useState,
      ({ attachment }) => attachment.kind === "live" || attachment.kind === "ended" || undefined,
      patience,
    );
  }

  /** The keyboard's, unless a question has it. */
  async focus(pane: Pane): Promise<void> {
    await this.show(pane);
    const { room } = await this.#mounted();
    if (document.querySelector("[aria-modal='true']") === null) room.shown(pane.id)?.focus();
  }

  /** Takes the pane away. */
  async remove(pane: Pane): Promise<void> {
    const { change } = await this.#mounted();
    change((now) => without(now, pane.id));
    await this.#mounted(({ layout }) => allPanes(layout).every(({ id }) => id !== pane.id));
    this.#ids.forget(pane.terminal);
  }

  /** Once the page shows them, and they are as somebody needs them. Throws PageToolError. */
  async #mounted(isRight: (mounted: MountedTerminals) => boolean = () => true): Promise<MountedTerminals> {
    const found = ({ mounted }: { readonly mounted: MountedTerminals | undefined }) =>
      mounted?.device === this.#device && isRight(mounted) ? mounted : undefined;
    this.#signal.throwIfAborted();
    if (useMountedTerminals.getState().mounted?.device !== this.#device) this.#goThere();
    const patience = { within: PAGE_WITHIN, signal: this.#signal };
    const mounted = await untilThere(useMountedTerminals, found, patience);
    if (mounted) return mounted;
    throw new PageToolError("The page of terminals did not open", {
      code: "UNAVAILABLE",
      hint: "Ask the person to open Terminal in this page",
    });
  }
}

/** Undefined: it is not, or not yet. */
function isActive({ id }: Pane, mounted: MountedTerminals | undefined): true | undefined {
  return (mounted && activePane(mounted.layout)?.id === id) || undefined;
}

function createdIn({ metadata }: Success): CreatedTerminal {
  const created = createdTerminal(metadata);
  if (!created) throw new Error("The machine's answer can't be read here");
  return created;
}

/** Of a pane in which something shall run. Throws PageToolError. */
export function checkOwn({ watches }: Pane): void {
  if (!watches) return;
  throw conflict("The page only watches this terminal: it is another caller's", "Use terminal_create");
}

export function isBash({ shell }: OpenTerminal): boolean {
  return shellName(shell) === "bash";
}
