/** The Worker's own environment, as vitest hands it out inside workerd. */
import type { Env } from "../../../worker/env.ts";

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {}
    interface GlobalProps {
      mainModule: typeof import("../../../worker/index.ts");
    }
  }
}

type WorkerEnv = Env;
