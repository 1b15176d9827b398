/** What the parts of a token's form are given. */
import type { Draft } from "./draft.ts";

export interface FieldProps {
  readonly draft: Draft;
  readonly change: (changed: Partial<Draft>) => void;
}
