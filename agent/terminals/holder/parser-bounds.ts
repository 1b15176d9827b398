/**
 * Bounds for what a program can make the parser of a screen do: it is in the process that holds all terminals, and takes any
 * number of lines in a sequence, strings of megabytes, and characters with marks without end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type xterm from "@xterm/headless";

/** Cells that sequences may change before others get their turn, which is some milliseconds; and in one piece of output. */
const CELLS_AT_ONCE = 500_000;
const CELLS_IN_PIECE = 20_000_000;
const TURN_MS = 5;
/** Marks of one character. */
const MOST_MARKS = 32;
const ALTERNATE_SCREENS: readonly number[] = [47, 1047, 1049];

interface Sequence {
  readonly final: string;
  readonly intermediates?: string;
  readonly prefix?: string;
}

/** Sequences that are done as often as their number says, and what that may be at most. */
const REPEATED: readonly { readonly final: string; readonly along: "rows" | "cols" }[] = [
  ...["S", "T", "L", "M"].map((final) => ({ final, along: "rows" as const })),
  // Programs repeat a character within a line.
  ...["b", "I", "Z"].map((final) => ({ final, along: "cols" as const })),
];
/** Those that may change the whole screen. */
const WHOLE: readonly Sequence[] = [
  ...[{ final: "J" }, { final: "J", prefix: "?" }],
  ...["'}", "'~", " @", " A"].map(([intermediates = "", final = ""]) => ({ intermediates, final })),
];

type Handled = boolean | Promise<boolean>;

/** Numbers of a sequence; what follows `length` of them is older. */
interface Numbers {
  readonly params: Int32Array;
  readonly length: number;
}

/** What is not in the library's types: handlers that wait and change numbers, and how characters join. */
interface Core {
  registerCsiHandler(sequence: Sequence, handler: (numbers: Numbers) => Handled): void;
  registerEscHandler(sequence: Sequence, handler: () => Handled): void;
  readonly unicodeService: { charProperties(codepoint: number, preceding: number): number };
}

/** Returns what is to be called before each piece of output. */
export function boundParser(terminal: xterm.Terminal): () => void {
  const { _core: core } = terminal as unknown as { readonly _core: Core };
  let cells = 0;
  let inPiece = 0;
  /** False: it goes on with the library's own handler, at once or after others had their turn. True: it is left out. */
  const afterTurn = (cost: number): Handled => {
    inPiece += cost;
    if (cost > 0 && inPiece > CELLS_IN_PIECE) return true;
    cells += cost;
    if (cells < CELLS_AT_ONCE) return false;
    cells = 0;
    return sleep(TURN_MS, false);
  };
  const screen = () => terminal.cols * terminal.rows;
  for (const { final, along } of REPEATED) {
    core.registerCsiHandler({ final }, ({ params }) => {
      const times = Math.min(params[0] ?? 1, terminal[along]);
      params[0] = times;
      return afterTurn(times * (along === "rows" ? terminal.cols : 1));
    });
  }
  for (const sequence of WHOLE) core.registerCsiHandler(sequence, () => afterTurn(screen()));
  for (const final of ["h", "l"]) {
    core.registerCsiHandler({ prefix: "?", final }, ({ params, length }) => {
      const modes = params.subarray(0, length);
      return afterTurn(ALTERNATE_SCREENS.some((mode) => modes.includes(mode)) ? screen() : 0);
    });
  }
  core.registerEscHandler({ final: "c" }, () => afterTurn(screen()));
  core.registerEscHandler({ intermediates: "#", final: "8" }, () => afterTurn(screen()));
  // The library keeps links that no text has, and a snapshot has none.
  terminal.parser.registerOscHandler(8, () => true);
  boundMarks(core);
  return () => {
    inPiece = 0;
  };
}

/** The library joins without an end. Marks beyond the bound stand for themselves. */
function boundMarks({ unicodeService: service }: Core): void {
  const properties = service.charProperties.bind(service);
  let joined = 0;
  service.charProperties = (codepoint, preceding) => {
    const found = properties(codepoint, preceding);
    // The last bit says whether it joins.
    joined = (found & 1) === 1 ? joined + 1 : 0;
    return joined > MOST_MARKS ? found & ~1 : found;
  };
}
