/** What a change touches beyond what imports it: tests start programs that are built of it, and read pages that describe it. */
import { AGENT } from "./agent-bundle.ts";
import { WEB } from "./web-bundle.ts";
import { WORKER } from "./worker-bundle.ts";

interface Started {
  /** Files and folders of the repository. */
  readonly sources: readonly string[];
  /** By what tests start or read them: a file that each such test imports, or the folder of the tests. */
  readonly by: readonly string[];
}

const STARTED: readonly Started[] = [
  { sources: WORKER.sources, by: ["scripts/worker-bundle.ts", "test/worker"] },
  { sources: AGENT.sources, by: ["scripts/matrx-bin.ts"] },
  { sources: WEB.sources, by: ["test/helpers/browser.ts", "agent/local/reference.ts"] },
  { sources: ["scripts", "relay.capnp"], by: ["test/scripts"] },
  { sources: ["README.md", "CONTRIBUTING.md", "docs"], by: ["test/docs", "test/readme.process.test.ts"] },
];

/** The changed files, and what counts as changed with them: paths of the repository. */
export function touchedBy(changed: readonly string[]): string[] {
  const touched = STARTED.filter(({ sources }) => changed.some((file) => isUnder(file, sources)));
  return [...new Set([...changed, ...touched.flatMap(({ by }) => by)])];
}

function isUnder(file: string, places: readonly string[]): boolean {
  return places.some((place) => file === place || file.startsWith(`${place}/`));
}
