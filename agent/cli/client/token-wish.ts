/** What the options of `matrx token create` and `change` ask of the relay. */

import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { type AskRule, askRuleSchema } from "@matrx/shared/access-rules.ts";
import { EFFECTS, type Effect } from "@matrx/shared/effects.ts";
import type { NewShare } from "@matrx/shared/share-api.ts";
import type { ChangedToken, NewToken } from "@matrx/shared/token-api.ts";
import { FAMILIES, type Family } from "@matrx/shared/tool-families.ts";
import { type Command, Option } from "commander";
import { usageError } from "../output/failure.ts";
import { findDevice } from "./find-device.ts";

/** Limits as options. */
export interface LimitOptions {
  device?: string[];
  tag?: string[];
  path?: string[];
  deny?: string[];
  effects?: Effect[];
  tool?: string[];
  family?: Family[];
  /** False for `--no-ask`. */
  ask?: string[] | boolean;
  network?: string[];
  secretsOpen?: boolean;
  days?: string;
}

export function withLimitOptions(command: Command): Command {
  return command
    .option("--device <device...>", "devices it is for")
    .option("--tag <tag...>", "devices with one of these tags")
    .option("--path <folder...>", "folders it may work in; quote ~, which is the device's home folder")
    .option("--deny <glob...>", 'paths that stay closed, such as "**/secret"')
    .addOption(new Option("--effects <effect...>", "what it may do").choices(EFFECTS))
    .option("--tool <tool...>", 'only these tools, such as Read or "files__*"')
    .addOption(
      new Option("--family <family...>", "tools that models are shown; they may call others too").choices(
        FAMILIES,
      ),
    )
    .option("--ask <what...>", 'ask you before: write, execute, a tool, or TOOL=PATTERN ("Bash=git push*")')
    .option("--no-ask", "never ask you")
    .option("--network <domain...>", "domains that its commands may reach")
    .option("--secrets-open", "let it see secrets, such as ~/.ssh and .env files");
}

/** A limit that `--lift` removes, and the fields that it is made of. */
const LIFTED = {
  devices: { devices: null, tags: null },
  paths: { paths: null },
  deny: { denied_paths: null },
  tools: { tools: null },
  families: { tool_families: null },
  network: { network: null },
  secrets: { secrets: null },
} as const satisfies Record<string, ChangedToken>;

export const LIFTABLE = Object.keys(LIFTED) as (keyof typeof LIFTED)[];

/** The body of `POST /v1/tokens`. Throws MatrxError. */
export async function newTokenOf(
  client: RelayClient,
  name: string,
  options: LimitOptions & { script?: boolean; anyPath?: boolean; days: string },
): Promise<NewToken> {
  const { script = false, anyPath = false, days } = options;
  if (!script && !options.path && !anyPath)
    throw usageError(
      "Say in which folders it may work: --path FOLDER",
      "--any-path sets no limit to folders",
    );
  const limits = await limitsOf(client, options);
  return {
    name,
    credential: script ? "script" : "ai",
    ...limits,
    ...(anyPath && { paths: null }),
    days: daysOf(days),
  };
}

/** The body of `POST /v1/shares`. Throws MatrxError. */
export async function newShareOf(
  client: RelayClient,
  name: string,
  options: LimitOptions & { anyPath?: boolean; days: string },
): Promise<NewShare> {
  const { device, tag, path, anyPath = false, days } = options;
  if (!device && !tag) throw usageError("Say which devices to share: --device NAME", "Or --tag TAG");
  if (!path && !anyPath)
    throw usageError("Say which folders to share: --path FOLDER", "--any-path sets no limit to folders");
  const { paths = null, ...limits } = await limitsOf(client, options);
  return { name, ...limits, paths: anyPath ? null : paths, days: daysOf(days) };
}

/** The body of `PATCH /v1/tokens/{grant}`. Throws MatrxError. */
export async function changedTokenOf(
  client: RelayClient,
  options: LimitOptions & { name?: string; lift?: (keyof typeof LIFTED)[] },
): Promise<ChangedToken> {
  const { name, lift = [], days } = options;
  const lifted = Object.assign({}, ...lift.map((limit) => LIFTED[limit])) as ChangedToken;
  const change = {
    ...(name !== undefined && { name }),
    ...lifted,
    ...(await limitsOf(client, options)),
    ...(days !== undefined && { days: daysOf(days) }),
  };
  if (Object.keys(change).length === 0)
    throw usageError("Say what to change", "matrx token change --help lists it");
  return change;
}

type Limits = Pick<
  NewToken,
  | "devices"
  | "tags"
  | "paths"
  | "denied_paths"
  | "effects"
  | "tools"
  | "tool_families"
  | "ask"
  | "network"
  | "secrets"
>;

async function limitsOf(client: RelayClient, options: LimitOptions): Promise<Limits> {
  const {
    device,
    tag: tags,
    path: paths,
    deny,
    effects,
    tool: tools,
    family,
    ask,
    network,
    secretsOpen,
  } = options;
  const devices = device && (await Promise.all(device.map((one) => findDevice(client, one))));
  return {
    ...(devices && { devices }),
    ...(tags && { tags }),
    ...(paths && { paths }),
    ...(deny && { denied_paths: deny }),
    ...(effects && { effects }),
    ...(tools && { tools }),
    ...(family && { tool_families: family }),
    ...(ask === false ? { ask: [] } : Array.isArray(ask) && { ask: askRules(ask) }),
    ...(network && { network }),
    ...(secretsOpen && { secrets: "open" }),
  };
}

/** Effects together are one rule, each tool is another. */
function askRules(asked: readonly string[]): AskRule[] {
  const effects = EFFECTS.filter((effect) => asked.includes(effect));
  const tools = asked.filter((one) => !(EFFECTS as readonly string[]).includes(one));
  const rules = [...(effects.length > 0 ? [{ effects }] : []), ...tools.map(toolRule)];
  return rules.map((rule) => {
    const checked = askRuleSchema.safeParse(rule);
    if (checked.success) return checked.data;
    throw usageError(`--ask: ${checked.error.issues[0]?.message}`, "Give effects, tools, or TOOL=PATTERN");
  });
}

function toolRule(text: string): AskRule {
  const at = text.indexOf("=");
  return at < 0 ? { tools: [text] } : { tools: [text.slice(0, at)], match: text.slice(at + 1) };
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days)) return days;
  throw usageError(`--days: "${text}" is not a number of days`, "Give 1 to 365");
}
