/** One way from caller to device and back, ready to be measured. */
import type { Line } from "./measure.ts";

export interface Variant {
  name: string;
  line: Line;
  /** Pid of the relay's process; absent: there is none on the way. */
  relay?: number;
  /** Milliseconds until what its calls leave behind is done, such as acknowledgements. */
  aftermath?: number;
}
