/** What a system has counted since it started. Two readings give percentages and rates. */

export interface Reading {
  /** By `performance.now()`. */
  readonly at: number;
  /** In the system's order; none: it does not tell. */
  readonly processors: readonly ProcessorTime[];
  readonly memory: MemoryUse;
  /** Of all disks together; null: the system does not tell. */
  readonly disks: DiskTraffic | null;
  readonly interfaces: readonly NetworkTraffic[];
  /** Null: the system does not tell. */
  readonly temperatures: readonly Temperature[] | null;
}

/** Of one processor, in a unit of the system's own. */
export interface ProcessorTime {
  readonly busy: number;
  readonly total: number;
}

/** In bytes. */
export interface MemoryUse {
  readonly total: number;
  /** What programs could get without swapping. */
  readonly available: number;
  readonly swapTotal: number;
  readonly swapUsed: number;
}

/** In bytes. */
export interface DiskTraffic {
  readonly read: number;
  readonly written: number;
}

/** In bytes. */
export interface NetworkTraffic {
  readonly name: string;
  readonly loopback: boolean;
  readonly received: number;
  readonly sent: number;
}

export interface Temperature {
  readonly name: string;
  readonly celsius: number;
}

export interface Meter {
  read(): Promise<Reading>;
}
