/** What a form says of a token or a share, and what is sent of it. */
import { DEFAULT_FAMILIES, FAMILIES, type Family } from "@matrx/shared/tool-families.ts";
import type { Routes } from "../../../relay/routes.ts";
import type { Token } from "./queries.ts";

export type NewToken = Routes["POST /v1/tokens"]["body"];
type NewShare = Routes["POST /v1/shares"]["body"];
type ChangedToken = Routes["PATCH /v1/tokens/{grant}"]["body"];
type AskRules = NonNullable<NewToken["ask"]>;

/** `kept`: rules that no other choice stands for. */
export type Ask = "acts" | "runs" | "always" | "never" | "kept";

/** Which tools its models are shown. */
export type Shown = "standard" | "all" | "some";

export interface Draft {
  readonly name: string;
  readonly allMachines: boolean;
  /** Ids. */
  readonly machines: readonly string[];
  readonly tags: readonly string[];
  readonly allFolders: boolean;
  /** One a line, as all lists of text here. */
  readonly folders: string;
  readonly closed: string;
  readonly secrets: boolean;
  readonly writes: boolean;
  readonly runs: boolean;
  readonly ask: Ask;
  readonly network: string;
  readonly tools: string;
  readonly shown: Shown;
  /** For `some`. */
  readonly families: readonly string[];
  /** Empty: as it is. */
  readonly days: string;
}

const RULES: Readonly<Record<Exclude<Ask, "kept">, AskRules>> = {
  acts: [{ effects: ["write", "execute"] }],
  runs: [{ effects: ["execute"] }],
  always: [{}],
  never: [],
};

/** The least that is of use: it reads on one machine, in folders that must be named. */
export function newDraft(machine: string | undefined): Draft {
  return {
    ...{ name: "", allMachines: false, machines: machine === undefined ? [] : [machine], tags: [] },
    ...{ allFolders: false, folders: "", closed: "", secrets: false },
    ...{ writes: false, runs: false, ask: "acts", network: "", tools: "", days: "30" },
    ...{ shown: "standard", families: DEFAULT_FAMILIES },
  };
}

/** Tells whether what a tab kept, of whichever release, has all that a form shows. */
export function isDraft(kept: unknown): kept is Draft {
  if (typeof kept !== "object" || kept === null) return false;
  const fields: Readonly<Record<string, unknown>> = { ...kept };
  return Object.entries(newDraft(undefined)).every(([name, value]) => {
    const found = fields[name];
    return Array.isArray(value)
      ? Array.isArray(found) && found.every((text) => typeof text === "string")
      : typeof found === typeof value;
  });
}

/** A token as it is now. */
export function draftOf(token: Token): Draft {
  const { name, devices, tags, paths, denied_paths: closed, secrets, effects = ["read"] } = token;
  return {
    name,
    allMachines: devices === null && !tags,
    machines: devices ?? [],
    tags: tags ?? [],
    allFolders: paths === null,
    folders: textOf(paths),
    closed: textOf(closed),
    secrets: secrets === "open",
    writes: effects.includes("write"),
    runs: effects.includes("execute"),
    ask: askOf(token.ask ?? []),
    network: textOf(token.network),
    tools: textOf(token.tools),
    ...shownOf(token.tool_families ?? undefined),
    days: "",
  };
}

/** What must be said before it can be sent; undefined: nothing. */
export function missingIn(draft: Draft): string | undefined {
  const { allMachines, machines, tags, allFolders, folders, shown, families } = draft;
  if (!allMachines && machines.length + tags.length === 0) return "Choose at least one machine or tag.";
  if (!allFolders && linesOf(folders).length === 0) return "Name at least one folder.";
  if (shown === "some" && families.length === 0) return "Choose at least one tool family.";
  return undefined;
}

export function newAiToken(draft: Draft): NewToken {
  const { name, days, secrets } = draft;
  return { name, ...limitsOf(draft), ...(secrets && { secrets: "open" }), days: Number(days) };
}

/** It acts as its owner: folders, secrets and questions are not for it. */
export function newScriptToken({ name, days, ...draft }: Draft): NewToken {
  return { name, credential: "script", ...placesOf(draft), days: Number(days) };
}

export function newShare(draft: Draft): NewShare {
  return { name: draft.name, ...limitsOf(draft), days: Number(draft.days) };
}

/** Only what is different. */
export function changeOf(token: Token, draft: Draft): ChangedToken {
  const before = draftOf(token);
  const changes = (...names: (keyof Draft)[]) =>
    names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(draft[name]));
  const { devices, tags } = placesOf(draft);
  return {
    ...(changes("name") && { name: draft.name }),
    ...(changes("allMachines", "machines", "tags") && { devices: devices ?? null, tags: tags ?? null }),
    ...(changes("allFolders", "folders") && { paths: foldersOf(draft) }),
    ...(changes("closed") && { denied_paths: listOrNull(draft.closed) }),
    ...(changes("secrets") && { secrets: draft.secrets ? "open" : null }),
    ...(changes("writes", "runs") && { effects: effectsOf(draft) }),
    ...(changes("ask") && draft.ask !== "kept" && { ask: RULES[draft.ask] }),
    ...(changes("network") && { network: listOrNull(draft.network) }),
    ...(changes("tools") && { tools: listOrNull(draft.tools) }),
    ...(changes("shown", "families") && { tool_families: familiesOf(draft) }),
    ...(draft.days !== "" && { days: Number(draft.days) }),
  };
}

function limitsOf(draft: Draft) {
  const [network, closed, tools] = [draft.network, draft.closed, draft.tools].map(listOrNull);
  const families = familiesOf(draft);
  return {
    ...placesOf(draft),
    paths: foldersOf(draft),
    effects: effectsOf(draft),
    ask: draft.ask === "kept" ? RULES.acts : RULES[draft.ask],
    ...(network && draft.runs && { network }),
    ...(closed && { denied_paths: closed }),
    ...(tools && { tools }),
    ...(families && { tool_families: families }),
  };
}

function placesOf({ allMachines, machines, tags }: Pick<Draft, "allMachines" | "machines" | "tags">) {
  if (allMachines) return {};
  return {
    ...(machines.length > 0 && { devices: [...machines] }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}

function foldersOf({ allFolders, folders }: Draft): string[] | null {
  return allFolders ? null : linesOf(folders);
}

function shownOf(families: readonly string[] = []): Pick<Draft, "shown" | "families"> {
  if (families.length === 0) return { shown: "standard", families: DEFAULT_FAMILIES };
  const isAll = FAMILIES.every((family) => families.includes(family));
  return { shown: isAll ? "all" : "some", families };
}

/** Null: the usual ones. */
function familiesOf({ shown, families }: Draft): Family[] | null {
  if (shown === "standard") return null;
  return FAMILIES.filter((family) => shown === "all" || families.includes(family));
}

function effectsOf({ writes, runs }: Draft): ("read" | "write" | "execute")[] {
  return ["read", ...(writes ? (["write"] as const) : []), ...(runs ? (["execute"] as const) : [])];
}

function askOf(rules: NonNullable<Token["ask"]>): Ask {
  const text = JSON.stringify(rules);
  const found = Object.entries(RULES).find(([, same]) => JSON.stringify(same) === text);
  return (found?.[0] as Ask | undefined) ?? "kept";
}

function textOf(list: readonly string[] | null | undefined): string {
  return (list ?? []).join("\n");
}

function listOrNull(text: string): string[] | null {
  const lines = linesOf(text);
  return lines.length > 0 ? lines : null;
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
