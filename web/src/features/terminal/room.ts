/** What the page holds of one machine: the connection, its terminals' views, and what is done with terminals themselves. */
import type { ITheme } from "@xterm/xterm";
import { create } from "zustand";
import { DeviceLink, type LinkOptions } from "../../relay/streams/device-link.ts";
import { waitsNotice } from "../../ui/approval-words.ts";
import { say } from "../../ui/notices.ts";
import type { Command } from "./keys.ts";
import type { Pane } from "./layout.ts";
import { type CreatedTerminal, createdTerminal, type OpenTerminal, openTerminals } from "./messages.ts";
import { TerminalView } from "./view.ts";

export interface RoomListener {
  onCommand(command: Command): void;
  onFocus(pane: string): void;
  onTitle(pane: string, title: string): void;
}

/** What each pane shows, by its id. */
type Views = ReadonlyMap<string, Shown>;

interface Shown {
  readonly terminal: string;
  readonly watches: boolean;
  readonly view: TerminalView;
}

/** In milliseconds. */
const DRAWN_WITHIN = 5000;
const ASKED = { onApproval: () => say(waitsNotice("A call from this page")) };

export class Room {
  readonly device: string;
  readonly link: DeviceLink;
  readonly #listener: RoomListener;
  readonly useViews = create<{ readonly views: Views }>(() => ({ views: new Map() }));
  #theme: ITheme;

  constructor(device: string, theme: ITheme, listener: RoomListener) {
    this.device = device;
    this.link = new DeviceLink(device);
    this.#theme = theme;
    this.#listener = listener;
  }

  /** The view of a pane: the same for as long as the pane shows the same terminal. */
  viewOf({ id, terminal, watches }: Pick<Pane, "id" | "terminal" | "watches">): TerminalView {
    const { views } = this.useViews.getState();
    const shown = views.get(id);
    if (shown?.terminal === terminal && shown.watches === watches) return shown.view;
    shown?.view.end();
    const { link } = this;
    const { onCommand } = this.#listener;
    const view = new TerminalView({
      ...{ link, terminal, watches, onCommand, theme: this.#theme },
      onFocus: () => this.#listener.onFocus(id),
      onTitle: (title) => this.#listener.onTitle(id, title),
    });
    this.useViews.setState({ views: new Map(views).set(id, { terminal, watches, view }) });
    return view;
  }

  /** The view of a pane that is shown already. */
  shown(pane: string | undefined): TerminalView | undefined {
    return pane === undefined ? undefined : this.useViews.getState().views.get(pane)?.view;
  }

  /** The view of a terminal, once it is drawn. Undefined: for seconds no pane shows it. */
  async drawn(terminal: string): Promise<TerminalView | undefined> {
    const found = Promise.withResolvers<TerminalView | undefined>();
    const look = ({ views }: { readonly views: Views }) => {
      const shown = [...views.values()].find((one) => one.terminal === terminal);
      if (shown) void shown.view.opened.then(() => found.resolve(shown.view));
    };
    const leave = this.useViews.subscribe(look);
    const late = setTimeout(() => found.resolve(undefined), DRAWN_WITHIN);
    look(this.useViews.getState());
    try {
      return await found.promise;
    } finally {
      leave();
      clearTimeout(late);
    }
  }

  /** Ends the views of all other panes. */
  keepOnly(panes: readonly Pane[]): void {
    const { views } = this.useViews.getState();
    const kept = new Map([...views].filter(([id]) => panes.some((pane) => pane.id === id)));
    if (kept.size === views.size) return;
    for (const [id, { view }] of views) if (!kept.has(id)) view.end();
    this.useViews.setState({ views: kept });
  }

  setTheme(theme: ITheme): void {
    this.#theme = theme;
    for (const { view } of this.useViews.getState().views.values()) view.setTheme(theme);
  }

  /** Opens a terminal. Throws MatrxError. */
  async create(folder: string | undefined, options: LinkOptions): Promise<CreatedTerminal> {
    const input = folder === undefined ? {} : { cwd: folder };
    const { metadata } = await this.link.call("TerminalCreate", input, options);
    const created = createdTerminal(metadata);
    if (!created) throw new Error("The machine's answer can't be read here.");
    return created;
  }

  /** All that run on the machine. Throws MatrxError. */
  async list(options: LinkOptions = ASKED): Promise<OpenTerminal[]> {
    const { metadata } = await this.link.call("TerminalList", {}, options);
    return openTerminals(metadata);
  }

  /** Ends a terminal with all that runs in it. Throws MatrxError. */
  async endTerminal(terminal: string): Promise<void> {
    await this.link.call("TerminalClose", { terminal }, ASKED);
  }

  /** Leaves all terminals, which go on. */
  close(): void {
    this.link.close();
    this.keepOnly([]);
  }
}
