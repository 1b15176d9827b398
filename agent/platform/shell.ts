/** A program that runs commands for jobs. */
export interface Shell {
  readonly file: string;
  /** Arguments that run the text in `<directory>/command` and leave `cwd` and `rc` beside it. */
  argumentsFor(directory: string): string[];
  /** It writes `<directory>/log` itself; else its output is to be sent there. */
  readonly logsItself: boolean;
}
