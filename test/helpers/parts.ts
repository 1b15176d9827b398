/** Parts of a machine that some tests need. */

/** Whether it is there. If not, its tests are skipped, and what would enable them is printed; in CI that is a failure. */
export function isThere(found: boolean, what: string): boolean {
  if (found) return true;
  if (process.env.CI) throw new Error(what);
  console.warn(`Skipped: ${what}`);
  return false;
}
