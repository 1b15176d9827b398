/** What a grant allows, in a sentence for people: the same on every surface. */
import type { AskRule } from "./access-rules.ts";
import type { Effect } from "./effects.ts";
import { type Credential, credentialOf, type Grant } from "./grant.ts";
import { FAMILIES } from "./tool-families.ts";

type Described = Pick<
  Grant,
  | "kind"
  | "owner"
  | "effects"
  | "tools"
  | "tool_families"
  | "paths"
  | "denied_paths"
  | "secrets"
  | "ask"
  | "network"
  | "devices"
  | "tags"
  | "ports"
  | "expires"
>;

/** `nameOf` gives a device's name. */
export function grantWords(grant: Described, nameOf: (device: string) => string): string {
  const credential = credentialOf(grant);
  const parts = [
    `${mayWords(grant, credential)}${placeWords(grant)} on ${deviceWords(grant, nameOf)}`,
    ...limitWords(grant),
    ...(credential === "ai" || credential === "guest"
      ? [...askWords(grant.ask ?? []), ...extraWords(grant)]
      : []),
    ...(credential === "script" ? ["is not for an AI"] : []),
    `expires ${new Date(grant.expires).toISOString().slice(0, 10)}`,
  ];
  return parts.join("; ");
}

const VERBS: Readonly<Record<Effect, string>> = { read: "read", write: "write", execute: "run commands" };
const THIRD_PERSON: Readonly<Record<Effect, string>> = {
  read: "reads",
  write: "writes",
  execute: "runs commands",
};

function mayWords({ effects, ports }: Described, credential: Credential): string {
  if (ports) return `may use what is served on port ${list(ports.map(String))}`;
  if (credential === "person") return "may do what you may";
  const verbs = list(effects.map((effect) => VERBS[effect]));
  return credential === "script" ? `acts as you: may ${verbs}` : `may ${verbs}`;
}

function placeWords({ paths }: Described): string {
  if (!paths) return "";
  return paths.length > 0 ? ` in ${list(paths)}` : " in no folder";
}

function deviceWords({ devices, tags }: Described, nameOf: (device: string) => string): string {
  if (!devices && !tags) return "all your devices";
  const tagged = tags?.length ? [`every device tagged ${list(tags, "or")}`] : [];
  return list([...(devices ?? []).map(nameOf), ...tagged]) || "no device";
}

function limitWords({ tools, denied_paths }: Described): string[] {
  return [
    ...(tools ? [`uses only ${list(tools)}`] : []),
    ...(denied_paths?.length ? [`never touches ${list(denied_paths, "or")}`] : []),
  ];
}

function askWords(rules: readonly AskRule[]): string[] {
  if (rules.length === 0) return ["never asks"];
  return rules.map((rule) => `asks before it ${askedWords(rule)}`);
}

function askedWords({ effects, tools, match, except = [] }: AskRule): string {
  const does =
    effects &&
    list(
      effects.map((effect) => THIRD_PERSON[effect]),
      "or",
    );
  const uses = tools && `uses ${list(tools, "or")}`;
  const what = does && uses ? `${does} by ${list(tools, "or")}` : (does ?? uses ?? "does anything");
  const where = match === undefined ? "" : ` where ${match} fits`;
  return `${what}${where}${except.length > 0 ? ` (except by ${list(except, "and")})` : ""}`;
}

function extraWords({ effects, tool_families, secrets, network }: Described): string[] {
  const runs = effects.includes("execute");
  return [
    ...(tool_families ? [`starts with ${familiesWords(tool_families)} tools`] : []),
    ...(secrets === "open" ? ["sees secrets such as ~/.ssh"] : []),
    ...(runs && network?.length ? [`its commands may reach ${list(network)}`] : []),
  ];
}

function familiesWords(families: readonly string[]): string {
  return FAMILIES.every((family) => families.includes(family)) ? "all" : list([...new Set(families)]);
}

const SHOWN = 8;

/** `a, b and c`; of a long list the start. */
function list(items: readonly string[], last = "and"): string {
  if (items.length > SHOWN) return `${items.slice(0, SHOWN).join(", ")} and ${items.length - SHOWN} more`;
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}
