/** Parts of a machine that some tests need. */
import type { TestOptions } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a test is skipped, and what would enable it. */
    needs?: string;
  }
}

/** Options of a test or suite that needs a part: skipped where it is missing, and the run's end says why; a failure in CI. */
export function needs(found: boolean, what: string): TestOptions {
  if (found) return {};
  if (process.env.CI) throw new Error(what);
  return skipped(what);
}

/** Options of a test or suite that needs what few machines have: skipped elsewhere, also in CI. */
export function needsRare(found: boolean, what: string): TestOptions {
  return found ? {} : skipped(what);
}

/** Options of a test that mounts something or acts for other users: `npm run test:root` runs just these. */
export const NEEDS_ROOT: TestOptions = {
  tags: ["root"],
  ...needsRare(process.getuid?.() === 0, "mounting and other users need root: sudo npm run test:root"),
};

function skipped(what: string): TestOptions {
  return { skip: true, meta: { needs: what } };
}
