/** docs/guides/events.md, done as it says: its settings, its commands, its words for defaults. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import envPaths from "env-paths";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { WAITING_MAX } from "../../agent/events/outbox.ts";
import { monitorSettings } from "../../agent/monitors/settings.ts";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { ROOT } from "../../scripts/tree.ts";
import { eventListSchema } from "../../shared/api.ts";
import { EVENT_TYPES } from "../../shared/events.ts";
import { LIMITS } from "../../shared/limits.ts";
import { lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { shell } from "../helpers/launcher.ts";
import { needsRare } from "../helpers/parts.ts";
import { startRelay } from "../helpers/relay.ts";
import { commandsOf } from "./commands.ts";

const PAGE = readFileSync(join(ROOT, "docs/guides/events.md"), "utf8");
const EXAMPLE = PAGE.match(/^```json\n(.*?)\n```$/ms)?.[1] ?? "";

test("the example's figures are the defaults, and each type has its row", () => {
  const { new_file_detected, service_down, ...rest } = JSON.parse(EXAMPLE).monitors;
  const usual = monitorSettings();
  expect(rest).toEqual({ low_disk_space: usual.low_disk_space, high_cpu_usage: usual.high_cpu_usage });
  expect({ ...service_down, services: [] }).toEqual(usual.service_down);
  const { report, ...folder } = new_file_detected.folders[0];
  const [bare] = monitorSettings({ new_file_detected: { folders: [{ path: folder.path }] } })
    .new_file_detected.folders;
  expect({ ...folder, report: ["added"] }).toEqual(bare);
  for (const type of EVENT_TYPES) expect(PAGE).toContain(`| \`${type}\` |`);
  expect(PAGE).toContain(`Up to ${WAITING_MAX} wait`);
  expect(PAGE).toContain(`keeps the last ${LIMITS.eventsKept} events`);
});

test(
  "the log's folder is where it says",
  needsRare(process.platform === "linux", "the guide names the log's folder on Linux"),
  () => {
    expect(envPaths("matrx", { suffix: "" }).log).toMatch(/\.local\/state\/matrx$/);
  },
);

test("its settings are taken, and its commands do what they say", { timeout: 60_000 }, async () => {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const token = await relay.token();
  const { device_id } = await ensurePaired(relay, token, new AbortController().signal, () => undefined);
  const home = join(relay.dataDir, "agent");
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, "scans"));
  const authorization = join(folder, "authorization");
  writeFileSync(authorization, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
  const config = join(home, "config.json");
  const example = JSON.parse(EXAMPLE.replace("/home/ann/scans", join(folder, "scans")));
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), ...example }));

  const [last, up, trigger, local] = commandsOf(PAGE) as [string, string, string, string];
  expect(up).toBe("npx matrx up --serve");
  const child = startMatrx([...up.replace("npx matrx ", "").split(" "), "0", "--json"], { home });
  let served = { url: "", token_file: "" };
  await lineOf(child, (said) => {
    if ("url" in said) served = z.looseObject({ url: z.string(), token_file: z.string() }).parse(said);
    return said.state === "REGISTERED";
  });
  const typed = (command: string) =>
    shell(
      command
        .replace("TOKEN_FILE", `'${served.token_file}'`)
        .replace("http://localhost:8000", served.url)
        .replace("http://localhost:8787", relay.url)
        .replace(".matrx/authorization", authorization)
        .replace("DEVICE", device_id),
    );
  expect(JSON.parse(await typed(trigger))).toMatchObject({ event_type: "backup_done", relay: "connected" });
  const isThere = expect.objectContaining({ event_type: "backup_done", data: { files: 120 } });
  expect(eventListSchema.parse(JSON.parse(await typed(local))).events).toContainEqual(isThere);
  await expect
    .poll(async () => eventListSchema.parse(JSON.parse(await typed(last))).events, { timeout: 10_000 })
    .toContainEqual(isThere);
  expect(readFileSync(join(home, "logs/agent.log"), "utf8")).toContain('"msg":"REGISTERED"');
});
