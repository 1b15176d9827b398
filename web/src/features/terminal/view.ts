/** One pane's view of a terminal: the emulator, and what holds it to the machine. It can be moved about in the page. */
import type { ITheme } from "@xterm/xterm";
import { create } from "zustand";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { confirmed } from "../../ui/confirm.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { Attachment, type AttachmentState, type Screen } from "./attachment.ts";
import { type Command, commandOf } from "./keys.ts";
import type { Size, Viewer } from "./messages.ts";
import { releaseModifiers, withModifiers } from "./modifiers.ts";
import { pasteable, pasteQuestion } from "./pasting.ts";
import { usePreferences } from "./preferences.ts";
import { onTap } from "./taps.ts";
import { ViewSize } from "./view-size.ts";
import { type Emulator, FONT, lastLines, makeEmulator } from "./xterm.ts";

export interface ViewOptions {
  readonly link: DeviceLink;
  readonly terminal: string;
  /** Only shows it. */
  readonly watches: boolean;
  readonly theme: ITheme;
  readonly onCommand: (command: Command) => void;
  readonly onFocus: () => void;
  /** The program in it gives it a name. */
  readonly onTitle: (title: string) => void;
}

interface ViewState {
  readonly attachment: AttachmentState;
  readonly viewers: readonly Viewer[];
  readonly size: Size;
  /** Another window gave it its size. */
  readonly isForeignSize: boolean;
  /** Bytes of output that did not get here. */
  readonly missed: number;
  readonly hasSelection: boolean;
}

/** However often a program names it, in milliseconds. */
const TITLE_AFTER = 250;
const TITLE_LENGTH = 200;
const TEXT_LINES = 500;

const encoder = new TextEncoder();

export class TerminalView implements Screen {
  readonly #options: ViewOptions;
  readonly #host = document.createElement("div");
  readonly #emulator: Emulator;
  readonly #size: ViewSize;
  readonly #ends: (() => void)[] = [];
  #attachment: Attachment | undefined;
  #title = "";
  #titleTimer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  readonly #drawn = Promise.withResolvers<void>();

  readonly useState = create<ViewState>(() => ({
    ...{ attachment: { kind: "connecting" }, viewers: [], size: { cols: 80, rows: 24 } },
    ...{ isForeignSize: false, missed: 0, hasSelection: false },
  }));

  constructor(options: ViewOptions) {
    this.#options = options;
    this.#host.style.height = "100%";
    this.#emulator = makeEmulator(usePreferences.getState(), options.theme, () => this.#mayAnswer());
    this.#size = new ViewSize({
      ...{ emulator: this.#emulator, host: this.#host },
      mayTell: () => !options.watches && this.useState.getState().attachment.kind === "live",
      tell: (size) => this.#attachment?.resize(size),
      onChange: (size, isForeignSize) => this.useState.setState({ size, isForeignSize }),
    });
    const { terminal } = this.#emulator;
    terminal.options.disableStdin = options.watches;
    terminal.onData((data) => this.#typed(data));
    // Reports of the mouse in its oldest form are bytes, not text.
    terminal.onBinary((data) => this.#attachment?.type(Uint8Array.from(data, (char) => char.charCodeAt(0))));
    terminal.onTitleChange((title) => this.#named(title));
    terminal.onSelectionChange(() => this.useState.setState({ hasSelection: terminal.hasSelection() }));
    terminal.attachCustomKeyEventHandler((event) => this.#isTerminals(event));
    this.#host.addEventListener("paste", (event) => this.#pasted(event), { capture: true });
    this.#host.addEventListener("focusin", () => this.#focused());
    onTap(this.#host, () => this.focus());
    this.#ends.push(
      usePreferences.subscribe(({ fontSize, scrollback, isReadOut }) => {
        Object.assign(terminal.options, { fontSize, scrollback, screenReaderMode: isReadOut });
        this.#size.fit();
      }),
    );
    const observer = new ResizeObserver(() => this.#size.fit());
    observer.observe(this.#host);
    this.#ends.push(() => observer.disconnect());
  }

  /** Resolves once it is drawn for the first time. */
  get opened(): Promise<void> {
    return this.#drawn.promise;
  }

  /** Puts it into the page; the first time, it is drawn and attached. */
  async showIn(parent: HTMLElement): Promise<void> {
    parent.append(this.#host);
    const { terminal } = this.#emulator;
    if (terminal.element) return this.#size.fit();
    // Letters are measured once: those that come later would not fit.
    await document.fonts.load(`14px ${FONT}`).catch(() => undefined);
    if (this.#isOver || terminal.element) return;
    terminal.open(this.#host);
    this.#drawn.resolve();
    this.#size.fit();
    this.attach();
  }

  /** Begins to show what the terminal writes. */
  attach(): void {
    const { link, terminal: id, watches } = this.#options;
    this.#attachment = new Attachment({
      ...{ link, terminal: id, write: !watches, screen: this },
      onState: (attachment) => this.#enter(attachment),
      onViewers: (viewers) => this.useState.setState({ viewers }),
      onDropped: () => say("Too much was typed or pasted at once: the last of it was not sent."),
      onUnsent: () => say("Some of what was typed was not sent."),
      onUnsure: () => say("The connection was lost: what was typed last may not have arrived."),
    });
  }

  /** Takes it out of the page; it goes on. */
  hide(): void {
    this.#host.remove();
  }

  /** Leaves the terminal, which goes on. */
  end(): void {
    this.#isOver = true;
    this.#size.end();
    clearTimeout(this.#titleTimer);
    this.#attachment?.leave();
    for (const end of this.#ends) end();
    this.#emulator.terminal.dispose();
    this.#host.remove();
  }

  focus(): void {
    this.#emulator.terminal.focus();
  }

  setTheme(theme: ITheme): void {
    this.#emulator.terminal.options.theme = theme;
  }

  /** Types, as if keys were pressed. False: the terminal takes no keys. */
  type(data: string): boolean {
    const { terminal } = this.#emulator;
    if (terminal.options.disableStdin || !this.#attachment) return false;
    terminal.input(data);
    return true;
  }

  get hasApplicationCursor(): boolean {
    return this.#emulator.terminal.modes.applicationCursorKeysMode;
  }

  get selection(): string {
    return this.#emulator.terminal.getSelection();
  }

  /** The last of what is written in it, to be selected by a finger. */
  get text(): string {
    return lastLines(this.#emulator.terminal, TEXT_LINES);
  }

  get search() {
    return this.#emulator.search;
  }

  async copy(): Promise<void> {
    const { selection } = this;
    if (selection === "") return say("Nothing is selected.");
    try {
      await navigator.clipboard.writeText(selection);
      say("Copied.");
    } catch (error) {
      sayProblem(error);
    }
  }

  /** Pastes what was copied. Throws DOMException: the browser does not say what that is. */
  async pasteClipboard(): Promise<void> {
    await this.paste(await navigator.clipboard.readText());
  }

  /** Asks first where the shell would run several lines by itself. */
  async paste(text: string): Promise<void> {
    const { terminal } = this.#emulator;
    const clean = pasteable(text);
    const question = pasteQuestion(clean, terminal.modes.bracketedPasteMode);
    if (question !== undefined && !(await confirmed({ text: question, yes: "Paste", isHarmless: true })))
      return;
    releaseModifiers();
    terminal.paste(clean);
    this.focus();
  }

  /** Gives the terminal the size of this window. */
  takeSize(): void {
    this.#size.fit();
    this.#size.tell();
  }

  begin({ cols, rows }: Size, isFresh: boolean): void {
    const { terminal } = this.#emulator;
    if (isFresh) terminal.reset();
    this.resized({ cols, rows });
  }

  ready(): void {
    // Who comes back does not take it from the window that is used.
    if (!this.#size.wasTold || this.#isUsed()) this.takeSize();
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => this.#emulator.terminal.write(bytes, resolve));
  }

  resized({ cols, rows }: Size): void {
    this.#size.resized({ cols, rows });
  }

  missed(bytes: number): void {
    this.useState.setState(({ missed }) => ({ missed: missed + bytes }));
  }

  #enter(attachment: AttachmentState): void {
    if (this.#isOver) return;
    const isGone = attachment.kind === "ended" || attachment.kind === "failed";
    this.#emulator.terminal.options.disableStdin = this.#options.watches || isGone;
    this.useState.setState({ attachment });
  }

  #named(title: string): void {
    this.#title = title.slice(0, TITLE_LENGTH);
    this.#titleTimer ??= setTimeout(() => {
      this.#titleTimer = undefined;
      if (this.#title !== "") this.#options.onTitle(this.#title);
    }, TITLE_AFTER);
  }

  /** Others who type into it answer in this one's place, unless the person is here. */
  #mayAnswer(): boolean {
    const writers = this.useState.getState().viewers.filter(({ write }) => write).length;
    return writers < 2 || this.#isUsed();
  }

  #isUsed(): boolean {
    return document.hasFocus() && this.#host.contains(document.activeElement);
  }

  #typed(data: string): void {
    this.#attachment?.type(encoder.encode(withModifiers(data)));
    // What a terminal answers by itself begins so.
    if (!data.startsWith("\u001b") && this.#size.isForeign) this.#size.tell();
  }

  #isTerminals(event: KeyboardEvent): boolean {
    const { terminal } = this.#emulator;
    const command = commandOf(event, terminal.buffer.active.type === "alternate");
    if (!command) return true;
    // The browser pastes by itself, without asking whether it may read what was copied.
    if (command === "paste") return false;
    event.preventDefault();
    if (event.type === "keydown") this.#options.onCommand(command);
    return false;
  }

  #pasted(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    void this.paste(event.clipboardData?.getData("text/plain") ?? "");
  }

  #focused(): void {
    this.#options.onFocus();
    if (this.#size.isForeign) this.#size.tell();
  }
}
