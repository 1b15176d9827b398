/** `matrx devices`: lists, renames, tags and removes your machines. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { type DeviceView, deviceListSchema, deviceViewSchema } from "@matrx/shared/api.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { viewDevice } from "../client/find-device.ts";
import { askYesNo, requireAnswer } from "../output/ask.ts";
import { ago, note, openAlerts, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { asTyped } from "../program-name.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface DevicesOptions extends CallerOptions {
  yes?: boolean;
  remove?: boolean;
  json?: boolean;
}

const DEVICE = ["<device>", "id or name, or the start of one"] as const;

export function addDevices(program: Command): void {
  const devices = withCallerOptions(program.command("devices").alias("ls"))
    .description("list, rename, tag and remove your machines")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx devices\n  matrx devices --json | jq '.devices[].id'\n  matrx devices rename laptop old-laptop",
    )
    .action(listDevices);
  withCallerOptions(devices.command("rename").description("give a device another name; its id stays"))
    .argument(...DEVICE)
    .argument("<name>", "the new name")
    .addHelpText("after", "\nExample:\n  matrx devices rename laptop old-laptop")
    .action(rename);
  withCallerOptions(
    devices.command("tag").description("tag a device; tokens made for a tag follow it at once"),
  )
    .argument(...DEVICE)
    .argument("[tags...]", "tags to add; without any, its tags are shown")
    .option("--remove", "remove these tags instead")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx devices tag laptop work linux\n  matrx devices tag laptop work --remove\n  matrx devices tag laptop",
    )
    .action(tag);
  withCallerOptions(
    devices.command("remove").description("remove a device: it is disconnected, and its key revoked"),
  )
    .argument(...DEVICE)
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx devices remove old-laptop\n  matrx devices remove old-laptop --yes",
    )
    .action(remove);
}

async function listDevices(options: DevicesOptions): Promise<void> {
  const client = callerOf(options);
  const list = await withProgress("Contacting the relay", client.get("/v1/devices", deviceListSchema));
  if (options.json) return printJson(list);
  if (list.devices.length === 0) {
    return note(
      asTyped(`No devices yet. On the machine you want to reach: matrx up --relay ${client.relay}`),
    );
  }
  const isShared = list.devices.some(({ shared_by }) => shared_by !== undefined);
  const [rows, columns] = [
    list.devices.map(rowOf),
    ["NAME", "STATE", "SEEN", "LAST PROOF", "SYSTEM", "TAGS", "ID"],
  ];
  if (isShared)
    printTable(
      [...columns, "SHARED BY"],
      rows.map((row, index) => [...row, list.devices[index]?.shared_by ?? ""]),
    );
  else printTable(columns, rows);
  for (const { id, name, alerts = 0 } of list.devices)
    if (alerts > 0) note(asTyped(`${plain(name)} has ${openAlerts(alerts)}: matrx events ${id} --open`));
}

function rowOf({
  id,
  name,
  state,
  paused,
  last_seen,
  proof,
  os,
  os_version,
  tags = [],
}: DeviceView): string[] {
  const proved = proof ? `${proof.tool} ${proof.verdict}, ${ago(proof.at)}` : "none yet";
  const system = [os, os_version].filter(Boolean).join(" ");
  const shownState = paused ? `${state}, ${paused === "ai" ? "paused for AI" : "paused"}` : state;
  return [name, shownState, ago(last_seen), proved, system, tags.join(" "), id];
}

async function rename(wanted: string, name: string, options: DevicesOptions): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const { id, name: before } = await viewDevice(client, wanted);
    const { body } = await client.send("PATCH", pathOf("v1", "devices", id), { body: { name } });
    return { before, device: deviceViewSchema.parse(body) };
  };
  const { before, device } = await withProgress("Contacting the relay", ask());
  if (options.json) return printJson(device);
  console.log(`${plain(before)} is now ${plain(device.name)} (${device.id}).`);
}

async function tag(wanted: string, tags: string[], options: DevicesOptions): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const view = await viewDevice(client, wanted);
    const before = view.tags ?? [];
    if (tags.length === 0) return view;
    const kept = before.filter((one) => !tags.includes(one));
    const body = { tags: options.remove ? kept : [...kept, ...tags] };
    const changed = await client.send("PATCH", pathOf("v1", "devices", view.id), { body });
    return deviceViewSchema.parse(changed.body);
  };
  const device = await withProgress("Contacting the relay", ask());
  if (options.json) return printJson(device);
  const now = device.tags?.length ? `is tagged ${device.tags.join(", ")}` : "has no tags";
  console.log(`${plain(device.name)} ${now} (${device.id}).`);
}

async function remove(wanted: string, options: DevicesOptions): Promise<void> {
  const client = callerOf(options);
  if (!options.yes) requireAnswer("Add --yes to remove it without being asked");
  const { id, name } = await withProgress("Contacting the relay", viewDevice(client, wanted));
  const question = `Remove ${plain(name)} (${id})? It must be paired again to come back.`;
  if (!options.yes && !(await askYesNo(question, stopSignal()))) throw kept();
  await withProgress("Contacting the relay", client.send("DELETE", pathOf("v1", "devices", id)));
  if (options.json) return printJson({ status: "removed", device: id, name });
  console.log(`Removed ${plain(name)} (${id}).`);
}

function kept(): MatrxError {
  return callerError("CANCELLED", "Nothing was removed");
}
