/** `matrx mounts`: the MCP servers that this machine mounts; `allow` opens one that has changed. */
import { callerError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { isInJob } from "../../platform/environment.ts";
import { agentHome } from "../agent-home.ts";
import { type MountedServer, mountedServers, waitingOf } from "../client/mounted-servers.ts";
import { askYesNo, requireAnswer } from "../output/ask.ts";
import { note, printJson, printTable } from "../output/print.ts";
import { asTyped } from "../program-name.ts";
import { stopSignal } from "../run/stop-signal.ts";
import { changeLines } from "./mount-lines.ts";

const EXAMPLES = `
Examples:
  matrx mounts
  matrx mounts allow notes
  matrx mounts allow notes --yes`;

export function addMounts(program: Command): void {
  const mounts = program
    .command("mounts")
    .description("list the MCP servers that this machine mounts, and what changed in them")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
What a server was when it was first seen is allowed. A tool that changes or is new later is closed until you allow it, and
so are all tools of a server whose program changes.
${EXAMPLES}`,
    )
    .action(list);
  mounts
    .command("allow")
    .description("show what changed in a server, and allow it")
    .argument("<server>", "its name in the configuration")
    .option("--yes", "do not ask")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(allow);
}

function list({ json }: { json?: boolean }): void {
  const servers = mountedServers(agentHome());
  if (json) return printJson({ servers });
  if (servers.length === 0) return note("This machine mounts no MCP servers.");
  printTable(
    ["SERVER", "TOOLS", "STATE"],
    servers.map((server) => [server.name, String(server.allowed), WORDS[server.state]]),
  );
  for (const server of servers.filter(({ state }) => state === "closed")) {
    console.log(`\n${server.name}`);
    for (const line of changeLines(server)) console.log(`  ${line}`);
    note(asTyped(`To allow that: matrx mounts allow ${server.name}`));
  }
}

const WORDS: Readonly<Record<MountedServer["state"], string>> = {
  disabled: "disabled",
  unchecked: "all changes are allowed",
  unseen: "not seen yet",
  allowed: "as it was allowed",
  closed: "changed, and closed as far as it did",
};

async function allow(name: string, { yes, json }: { yes?: boolean; json?: boolean }): Promise<void> {
  if (isInJob(process.env)) {
    throw callerError(
      "PERMISSION_DENIED",
      "This command runs for a caller, and callers cannot allow a server",
      {
        hint: "Run it in a terminal at the machine",
      },
    );
  }
  const waiting = waitingOf(agentHome(), name);
  const { server } = waiting;
  if (server.state !== "closed") {
    if (json) return printJson({ server: name, allowed: false });
    return note(`Nothing of ${name} waits to be allowed.`);
  }
  if (!json) for (const line of changeLines(server)) console.log(line);
  if (!yes) {
    requireAnswer("Look at what changed with matrx mounts, then add --yes");
    if (!(await askYesNo(`Allow this of ${name}?`, stopSignal()))) return note("It stays closed.");
  }
  waiting.allow();
  if (json) return printJson({ server: name, allowed: true });
  console.log(`Allowed. A running agent opens ${name} within seconds.`);
}
