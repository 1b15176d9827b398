/** Parts of a machine that some tests need. */
import type { TestOptions } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a test is skipped, and what would enable it. */
    needs?: string;
  }
}

/** Options of a test or suite that needs a part of the machine: skipped without it, with the reason at the end of the run; in CI a failure. */
export function needs(found: boolean, what: string): TestOptions {
  if (found) return {};
  if (process.env.CI) throw new Error(what);
  return skipped(what);
}

/** Options of a test or suite that few machines can run: skipped on others, in CI too. */
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
