/** `matrx events`: shows what a device reported by itself. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { type EventView, eventListSchema } from "@matrx/shared/api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { deviceBySocket } from "../client/device.ts";
import { findDevice } from "../client/find-device.ts";
import { note, oneLine, plain, printJson, printJsonLine, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface EventsOptions extends CallerOptions {
  follow?: boolean;
  open?: boolean;
  json?: boolean;
}

export function addEvents(program: Command): void {
  program
    .command("events")
    .description("show what a device reported: low disk space, new files, services that are down")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .option("-f, --follow", "keep printing new events, until Ctrl-C")
    .option("--open", "only what is still open")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON; with --follow one object per line")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx events laptop\n  matrx events laptop --open\n  matrx events laptop -f --json",
    )
    .action(events);
}

async function events(wanted: string | undefined, options: EventsOptions): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    return client.get(pathOf("v1", "devices", device, "events"), eventListSchema);
  };
  const list = await withProgress("Contacting the relay", ask());
  const kept = list.events.filter(({ open }) => open || !options.open);
  const show = options.json ? printJsonLine : (event: EventView) => print(event);
  if (options.follow) kept.forEach(show);
  else if (options.json) return printJson({ ...list, events: kept });
  else return printList(kept, list.dropped);
  const device = deviceBySocket(client, list.device);
  await device.watch({
    after: list.events.at(-1)?.id,
    signal: stopSignal(),
    onEvent: show,
    onConnect: () => note("Waiting for events. Ctrl-C stops."),
    onBreak: () => note("Lost the connection to the relay. Reconnecting ..."),
  });
  device.close();
}

function printList(kept: readonly EventView[], dropped: number): void {
  if (kept.length === 0) console.log("Nothing to report.");
  kept.forEach(print);
  if (dropped > 0) console.log(styled("dim", `${dropped} more came too fast and were dropped.`));
}

function print({ received, severity, event_type, key, data, resolved, open, dropped }: EventView): void {
  const when = new Date(received).toLocaleString();
  const state = resolved ? styled("green", "resolved") : open ? styled("yellow", "open") : "";
  const facts = Object.entries(data).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  if (dropped > 0) console.log(styled("dim", `(${dropped} came too fast here and were dropped)`));
  const words = [when, ...[severity ?? "", event_type, key ?? ""].map(oneLine), state];
  console.log(words.filter((word) => word !== "").join("  "));
  if (facts.length > 0) console.log(styled("dim", `  ${plain(facts.join(" "))}`));
}
