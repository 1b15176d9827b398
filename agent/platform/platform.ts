/** What differs between operating systems, behind one interface. macOS and Windows: written from documents, not run. */
import type { PlatformPath } from "node:path";
import type { OpenDirectory } from "./directory.ts";
import type { ProcessTable } from "./processes.ts";
import type { Shell } from "./shell.ts";

export interface Platform {
  /** As uname says it. */
  readonly name: "Linux" | "Darwin" | "Windows";
  readonly path: PlatformPath;
  /** Brings two spellings of one place together, for comparing only. */
  fold(path: string): string;
  /** Why text cannot be a path of this system, or undefined. */
  objectionTo(path: string): string | undefined;
  /** The system's own view into processes, where their memory and environment can be read. */
  isProcessInside(canonical: string): boolean;
  /** The program that runs commands; `exists` asks for a file. */
  shell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell;
  readonly openDirectory: OpenDirectory;
  readonly processes: ProcessTable;
}
