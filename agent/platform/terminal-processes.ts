/** What the system tells of the programs on a pseudo terminal. */

export interface Foreground {
  /** The process group that the terminal's keys reach. */
  readonly group: number;
  /** The command line of its leader. */
  readonly command: string;
  readonly cwd: string | undefined;
}

export interface TerminalProcesses {
  /** The program in the foreground of the terminal that a shell leads; undefined if the system does not tell. */
  foregroundOf(shell: number): Promise<Foreground | undefined>;
  /** Processes that have the terminal of this shell open, in whatever session they are; empty if the system does not tell. */
  usersOf(shell: number): Promise<number[]>;
}

/** For systems that tell neither. */
export const noTerminalProcesses: TerminalProcesses = {
  foregroundOf: () => Promise.resolve(undefined),
  usersOf: () => Promise.resolve([]),
};
