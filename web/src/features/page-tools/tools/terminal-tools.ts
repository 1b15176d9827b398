/** Page tools for the terminals that the person sees. */
import { commandField, runCommand } from "../commands.ts";
import { conflict, invalid } from "../failure.ts";
import { optional, whole } from "../fields.ts";
import { USUAL_PLACE } from "../terminal-ids.ts";
import { checkOwn, isBash, type RunningPane } from "../terminals.ts";
import { defineTool, type PageTool, type ToolContext } from "../tool.ts";

const FAR = 1_000_000;

const terminalId = whole("From terminal_list", 1, Number.MAX_SAFE_INTEGER);

const terminalExecute = defineTool({
  name: "terminal_execute",
  title: "Run in a terminal",
  description:
    "Type a command into a terminal the person sees; returns its output. Asks the person. exit_code null with running: true: still runs after 30 s.",
  reach: "act",
  isUntrusted: true,
  needs: ["TerminalExecute", "TerminalInput", "TerminalCreate", "TerminalList", "TerminalAttach"],
  fields: {
    command: commandField,
    terminal_id: optional(whole("Default: the focused one", 1, Number.MAX_SAFE_INTEGER)),
  },
  async handle({ command, terminal_id: wanted }, context) {
    const found = await target(wanted, context);
    if (found) checkOwn(found.pane);
    const what = found ? `Run in terminal ${found.id}` : "Run in a new terminal";
    const acting = await context.allowed({ what, exactly: command });
    const { id, pane } = found ?? (await context.terminals.create(acting));
    await context.terminals.show(pane);
    const shell = { id, terminal: pane.terminal, isBash: found === undefined || isBash(found.terminal) };
    return { ...(await runCommand(command, shell, acting)), terminal_id: id };
  },
});

/** Undefined: a new one. Throws PageToolError. */
async function target(id: number | undefined, context: ToolContext): Promise<RunningPane | undefined> {
  const running = await context.terminals.list(context);
  if (id === undefined) return running.find(({ isFocused }) => isFocused);
  const found = running.find((one) => one.id === id);
  if (found) return found;
  if (await context.terminals.find(id)) throw conflict(`Terminal ${id} has ended`, "Use terminal_create");
  throw invalid(`There is no terminal ${id}`, "See terminal_list");
}

const terminalCreate = defineTool({
  name: "terminal_create",
  title: "Open a terminal",
  description: "Open a terminal, in a tab of its own: x and y are only given back. Asks the person.",
  reach: "act",
  isUntrusted: false,
  needs: ["TerminalCreate", "TerminalAttach"],
  fields: { x: optional(whole("Default 100", -FAR, FAR)), y: optional(whole("Default 100", -FAR, FAR)) },
  async handle({ x = USUAL_PLACE.x, y = USUAL_PLACE.y }, { terminals, allowed }) {
    const acting = await allowed({ what: "Open a new terminal" });
    const { id, pane } = await terminals.create(acting, { x, y });
    await terminals.show(pane);
    return { terminal_id: id, x, y };
  },
});

const terminalList = defineTool({
  name: "terminal_list",
  title: "List terminals",
  description: "List the terminals shown in this page.",
  reach: "look",
  isUntrusted: true,
  needs: ["TerminalList", "TerminalAttach"],
  fields: {},
  async handle(_input, context) {
    const running = await context.terminals.list(context);
    return running.map(({ id, terminal, isFocused }) => ({
      id,
      working_dir: terminal.cwd,
      focused: isFocused,
    }));
  },
});

const terminalFocus = defineTool({
  name: "terminal_focus",
  title: "Focus a terminal",
  description: "Show a terminal and give it the keyboard.",
  reach: "show",
  isUntrusted: false,
  needs: ["TerminalList", "TerminalAttach"],
  fields: { terminal_id: terminalId },
  async handle({ terminal_id: id }, { terminals }) {
    const pane = await terminals.find(id);
    if (!pane) return unknown(id);
    await terminals.focus(pane);
    return { success: true };
  },
});

const terminalClose = defineTool({
  name: "terminal_close",
  title: "Close a terminal",
  description: "Close a terminal and end what runs in it. Asks the person.",
  reach: "act",
  isUntrusted: false,
  needs: ["TerminalClose", "TerminalList", "TerminalAttach"],
  fields: { terminal_id: terminalId },
  async handle({ terminal_id: id }, context) {
    const { terminals, allowed } = context;
    const pane = await terminals.find(id);
    if (!pane) return unknown(id);
    const running = (await terminals.list(context)).find((one) => one.id === id);
    // A person leaves another caller's terminal, and it goes on.
    const isLeft = pane.watches || !running;
    const acting = await allowed({
      what: isLeft ? `Close terminal ${id}` : `Close terminal ${id} and end what runs in it`,
      exactly: running?.terminal.foreground,
    });
    if (!isLeft) await acting.run("TerminalClose", { terminal: pane.terminal });
    await terminals.remove(pane);
    return { success: true };
  },
});

function unknown(id: number) {
  return { success: false, reason: `There is no terminal ${id}: see terminal_list` };
}

export const TERMINAL_TOOLS: readonly PageTool[] = [
  terminalExecute,
  terminalCreate,
  terminalList,
  terminalFocus,
  terminalClose,
];
