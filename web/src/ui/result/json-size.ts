/** How far JSON is unfolded at first. */

/** Lines that are shown without folding anything, at the most. */
const FEW = 60;
const DEEPEST = 8;

/** To this depth all is open: as deep as there are few lines. */
export function openDepthOf(value: unknown): number {
  let lines = 1;
  let level: readonly unknown[] = [value];
  for (let depth = 1; depth <= DEEPEST; depth++) {
    level = level.flatMap((each) => membersOf(each).slice(0, FEW + 1));
    lines += level.length;
    if (level.length === 0) return DEEPEST;
    if (lines > FEW) return Math.max(1, depth - 1);
  }
  return DEEPEST;
}

function membersOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}
