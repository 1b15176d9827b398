/** The files of one machine, this one or a device, as a copy sees them. */
import type { Sink, Source } from "./ends.ts";
import type { PathNames } from "./path-names.ts";

export interface Listed {
  readonly name: string;
  /** `unnameable`: its name is no text. `other`: such as a socket. */
  readonly kind: "file" | "directory" | "link" | "unnameable" | "other";
}

export interface Files {
  /** Undefined if nothing is there. Throws MatrxError. */
  kindOf(path: string): Promise<"file" | "directory" | undefined>;
  list(path: string): AsyncIterable<Listed>;
  readonly names: PathNames;
  /** With its parents; it may be there. Throws MatrxError. */
  makeFolder(path: string): Promise<void>;
  /** Throws MatrxError. */
  openSource(path: string): Promise<Source>;
  sinkFor(path: string): Sink;
  /** A path for people. */
  shown(path: string): string;
}
