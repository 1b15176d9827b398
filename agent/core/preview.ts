/** What a tool says about a call before it runs. Texts are as they are; `question.ts` makes hidden characters visible. */
export interface Preview {
  /** What it would do, as a phrase that begins with a verb. */
  readonly summary: string;
  /** The content that files would get, as a unified diff. */
  readonly diff?: string | undefined;
  /** Whether parts of the diff were left out. */
  readonly diffCut?: boolean | undefined;
  readonly command?: CommandPreview | undefined;
  readonly url?: string | undefined;
  /** An application, with its arguments. */
  readonly app?: string | undefined;
  /** What the person should look at closely. */
  readonly warnings?: readonly string[];
  /** Facts besides the named files that must not change after a yes, such as which process a pid stands for. */
  readonly bound?: BoundFacts | undefined;
}

export interface CommandPreview {
  readonly text: string;
  readonly cwd: string;
  /** What its sandbox lets it reach; absent: it runs free. */
  readonly sandbox?:
    | {
        readonly readable: readonly string[];
        readonly writable: readonly string[];
        readonly network: readonly string[];
      }
    | undefined;
}

/** Facts by what a message calls them, such as `the process`. */
export type BoundFacts = Readonly<Record<string, string | number>>;
