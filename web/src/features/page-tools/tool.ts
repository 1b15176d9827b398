/** A tool of the page: what is announced of it, and what it does. */

import { type Fields, type InputOf, readInput, schemaOf } from "./fields.ts";
import type { PageFolders } from "./folders.ts";
import type { Act } from "./gate.ts";
import type { Acting, Reading } from "./machine.ts";
import type { PageTerminals } from "./terminals.ts";

/** `look`: it tells; `show`: it changes what the page shows; `act`: it changes something at the machine, and is asked each time. */
export type Reach = "look" | "show" | "act";

export interface ToolContext extends Reading {
  readonly terminals: PageTerminals;
  readonly folders: PageFolders;
  readonly signal: AbortSignal;
  /** Asks the person. Throws PageToolError. */
  allowed(act: Act): Promise<Acting>;
}

interface Announced {
  /** As in the specification. */
  readonly name: string;
  readonly title: string;
  /** Models pay for each character. */
  readonly description: string;
  readonly reach: Reach;
  /** Its answer has what a machine wrote. */
  readonly isUntrusted: boolean;
  /** Tools of the machine without which it can't work. */
  readonly needs: readonly string[];
}

export interface PageTool extends Announced {
  readonly schema: object;
  /** Reads the parameters, and returns what does it. Throws PageToolError `INVALID_PARAMETERS`. */
  prepare(input: unknown): (context: ToolContext) => Promise<unknown>;
}

interface Definition<F extends Fields> extends Announced {
  readonly fields: F;
  handle(input: InputOf<F>, context: ToolContext): Promise<unknown>;
}

export function defineTool<F extends Fields>({ fields, handle, ...announced }: Definition<F>): PageTool {
  return {
    ...announced,
    schema: schemaOf(fields),
    prepare(given) {
      const input = readInput(fields, given);
      return (context) => handle(input, context);
    },
  };
}
