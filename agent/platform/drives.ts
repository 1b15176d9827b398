/** Places of this machine's own disks that can be written: no pseudo, read-only or network file systems. */

export interface Drive {
  /** As its users call it: `/`, `/home`, `C:`. */
  readonly name: string;
  /** A folder on it. */
  readonly path: string;
}

/** Lists them. None of them is touched: a dead one must not hold up the others. */
export type ListDrives = () => Promise<Drive[]>;
