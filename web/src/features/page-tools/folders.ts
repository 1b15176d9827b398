/** The folder that the person sees, or saw last: terminals may be in its place since. */
import type { FolderPage } from "../files/entries.ts";
import { type MountedFolder, useMountedFolder } from "../files/mounted.ts";
import { plainPath } from "../files/paths.ts";
import { untilThere } from "./waiting.ts";

/** In milliseconds. */
const PAGE_WITHIN = 30_000;

export class PageFolders {
  readonly #device: string;
  readonly #goTo: (path: string) => void;
  readonly #signal: AbortSignal;

  constructor(device: string, goTo: (path: string) => void, signal: AbortSignal) {
    this.#device = device;
    this.#goTo = goTo;
    this.#signal = signal;
  }

  /** Undefined: none was shown. */
  get shown(): string | undefined {
    return useMountedFolder.getState().last.get(this.#device);
  }

  /** Shows a folder; resolves once it is read, or can't be. Undefined: the page did not come. */
  async show({ path }: Pick<FolderPage, "path">): Promise<MountedFolder | undefined> {
    const wanted = plainPath(path);
    this.#goTo(wanted);
    const found = ({ mounted }: { readonly mounted: MountedFolder | undefined }) => {
      if (mounted?.device !== this.#device || mounted.path !== wanted || mounted.isReading) return undefined;
      return mounted.count !== undefined || mounted.error ? mounted : undefined;
    };
    return untilThere(useMountedFolder, found, { within: PAGE_WITHIN, signal: this.#signal });
  }
}
