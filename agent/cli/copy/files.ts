/** The files of one machine, this one or a device, as a copy sees them. */
import type { Sink, Source } from "./ends.ts";

export interface Listed {
  readonly name: string;
  /** `other`: neither file nor folder, or with a name that cannot be used. It is left out. */
  readonly kind: "file" | "directory" | "other";
}

export interface Files {
  /** Undefined if nothing is there. Throws MatrxError. */
  kindOf(path: string): Promise<"file" | "directory" | undefined>;
  list(path: string): AsyncIterable<Listed>;
  join(folder: string, name: string): string;
  /** The last part of a path. */
  nameOf(path: string): string;
  /** With its parents; it may be there. Throws MatrxError. */
  makeFolder(path: string): Promise<void>;
  /** Throws MatrxError. */
  openSource(path: string): Promise<Source>;
  sinkFor(path: string): Sink;
  /** A path for people. */
  shown(path: string): string;
}
