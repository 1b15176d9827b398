/** `matrx doctor`: checks this machine, its optional parts, and each hop from here to a tool. */
import type { Command } from "commander";
import { relayOption, tokenFileOption } from "../client/credentials.ts";
import type { DoctorOptions } from "../run/doctor.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("is this machine set up? checks it and its optional parts, then what status checks")
    .argument("[device]", "id or name, or the start of one (default: this machine)")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  matrx doctor\n  matrx doctor laptop --json")
    // Loaded lazily: other commands do not need it.
    .action(async (device: string | undefined, options: DoctorOptions) =>
      (await import("../run/doctor.ts")).runDoctor(device, options),
    );
}
