/** Where a system keeps what was deleted, so that it can be brought back. */

/** What the place of a trash depends on. */
export interface TrashQuestion {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: number;
  /** The canonical path of the folder where the file system of the deleted thing is mounted. */
  readonly top: string;
}

/** A folder of the trash. A thing is put only into one on its own file system. */
export interface TrashFolder {
  /** An absolute path whose links may be followed; what is below it may not be reached by links. */
  readonly base: string;
  /** Names below `base` that are made where they are missing, for this user only. */
  readonly names: readonly string[];
  /** Below these: the name of the folder for the things themselves; absent: they lie in it directly. */
  readonly files?: string;
  /** The name of the folder for what is known of them (freedesktop.org Trash specification 1.0). */
  readonly info?: string;
  /** What paths in there are written from; absent: they are absolute. */
  readonly writtenFrom?: string;
  /** The first of the names is used only where it stands already, is no link, and has the sticky bit. */
  readonly isShared?: true;
}

export type TrashWay =
  | { readonly by: "folder"; folders(question: TrashQuestion): readonly TrashFolder[] }
  | {
      readonly by: "program";
      /** Exit code 0: it lies in the trash. */
      command(path: string, isFolder: boolean, env: NodeJS.ProcessEnv): { file: string; args: string[] };
    };
