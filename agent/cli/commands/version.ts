/** `matrx version`: which version this is. */
import type { Command } from "commander";
import { AGENT_VERSION } from "../../config/program.ts";
import { printJson } from "../output/print.ts";

export function addVersion(program: Command): void {
  program
    .command("version")
    .description("print the version")
    .option("--json", "print JSON, with the version of Node and the system")
    .addHelpText("after", "\nExamples:\n  matrx version\n  matrx -v")
    .action(({ json }: { json?: boolean }) => {
      const { platform, arch, versions } = process;
      if (json) printJson({ version: AGENT_VERSION, node: versions.node, system: `${platform}-${arch}` });
      else console.log(AGENT_VERSION);
    });
}
