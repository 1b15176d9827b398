/** How far a transfer is, on one line of a terminal: a bar, share, rate and time left. */
import { isQuietRun } from "./print.ts";
import { fitted } from "./progress.ts";

const EVERY_MS = 200;
/** Rates are those of the last seconds: a transfer that was held up shows it. */
const RATE_OVER_MS = 3000;

const BAR_CELLS = 20;
/** In a narrower terminal the bar would leave no room for the name. */
const COLUMNS_FOR_BAR = 72;

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** `12.3 MiB` */
export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1:05`, or `2:01:05` */
export function timeText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/** `rate` in bytes per second. */
export function progressText(
  bytes: number,
  total: number | undefined,
  rate: number,
  columns: number = COLUMNS_FOR_BAR,
): string {
  const speed = `${sizeText(Math.round(rate))}/s`;
  if (total === undefined) return `${sizeText(bytes)}, ${speed}`;
  const part = Math.min(1, bytes / Math.max(1, total));
  const done = "#".repeat(Math.floor(part * BAR_CELLS)).padEnd(BAR_CELLS, ".");
  const bar = columns < COLUMNS_FOR_BAR ? "" : `[${done}] `;
  const share = `${Math.floor(100 * part)}%`.padStart(4);
  const left = rate > 0 ? `, ${timeText((total - bytes) / rate)} left` : "";
  return `${bar}${share} of ${sizeText(total)}, ${speed}${left}`;
}

export class TransferLine {
  readonly #isShown = process.stderr.isTTY && !isQuietRun();
  #samples: { readonly at: number; readonly bytes: number }[] = [];
  #drawn = 0;

  /** `total`: undefined if nobody knows it yet. */
  show(name: string, bytes: number, total: number | undefined): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#drawn < EVERY_MS) return;
    this.#drawn = now;
    this.#samples = [...this.#samples.filter(({ at }) => now - at < RATE_OVER_MS), { at: now, bytes }];
    const [first] = this.#samples;
    const rate = first && now > first.at ? ((bytes - first.bytes) / (now - first.at)) * 1000 : 0;
    const { columns } = process.stderr;
    const end = `  ${progressText(bytes, total, rate, columns)}`;
    process.stderr.write(`\r\u001b[K${fitted(name, end, columns)}`);
  }

  /** The next file begins, or all is done. */
  clear(): void {
    this.#samples = [];
    if (this.#isShown && this.#drawn > 0) process.stderr.write("\r\u001b[K");
    this.#drawn = 0;
  }
}
