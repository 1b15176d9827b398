/** Page tools that do several things at once. */
import { commandField, runCommand } from "../commands.ts";
import { tooMuch } from "../failure.ts";
import { optional, text } from "../fields.ts";
import { editorLine, wordsOf } from "../shell-words.ts";
import { defineTool, type PageTool } from "../tool.ts";
import { found } from "./file-tools.ts";

/** An editor goes on: nobody waits for its end, in milliseconds. */
const EDITOR_WAIT = 1_500;
const MOST_FILES = 100;

const runInNewTerminal = defineTool({
  name: "run_in_new_terminal",
  title: "Run in a new terminal",
  description: "Open a terminal, which stays, and run a command in it. Asks the person.",
  reach: "act",
  isUntrusted: true,
  needs: ["TerminalExecute", "TerminalInput", "TerminalCreate", "TerminalAttach"],
  fields: { command: commandField },
  async handle({ command }, { terminals, allowed }) {
    const acting = await allowed({ what: "Run in a new terminal", exactly: command });
    const { id, pane, shell } = await terminals.create(acting);
    await terminals.show(pane);
    const { terminal } = pane;
    const { output, running } = await runCommand(command, { id, terminal, isBash: shell === "bash" }, acting);
    return { terminal_id: id, output, ...(running && { running }) };
  },
});

const findAndEdit = defineTool({
  name: "find_and_edit",
  title: "Find and edit files",
  description:
    "Find files by a glob for their names, below the folder shown, and open them with an editor in a new terminal. Asks the person.",
  reach: "act",
  isUntrusted: false,
  needs: ["search_files", "TerminalExecute", "TerminalCreate", "TerminalAttach"],
  fields: {
    pattern: text("Such as *.log", 1_000),
    editor: optional(text("Command with arguments. Default: $EDITOR, or vi", 1_000)),
  },
  async handle({ pattern, editor }, context) {
    const { terminals, allowed } = context;
    const command = editor === undefined ? ["$EDITOR, or else vi"] : [wordsOf(editor).join(" ")];
    const { searched, files: all } = await found({ pattern }, context);
    const files = all.flatMap(({ path, type }) => (type === "file" ? path : []));
    if (files.length === 0) return { files_found: 0, terminal_id: null, searched };
    if (files.length > MOST_FILES)
      throw tooMuch(`${files.length} files fit, and at most ${MOST_FILES} are opened`, "Narrow the pattern");
    const acting = await allowed({
      what: `Open ${files.length === 1 ? "a file" : `${files.length} files`} in a new terminal with`,
      exactly: [...command, ...files.map((file) => JSON.stringify(file))].join("\n"),
    });
    const { id, pane, shell } = await terminals.create(acting);
    await terminals.show(pane);
    await acting.run("TerminalExecute", {
      ...{ command: editorLine({ editor, files }, shell), terminal: pane.terminal, yield_ms: EDITOR_WAIT },
    });
    return { files_found: files.length, terminal_id: id };
  },
});

export const COMBINED_TOOLS: readonly PageTool[] = [runInNewTerminal, findAndEdit];
