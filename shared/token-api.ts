/** REST bodies of tokens: what a person makes, sees and changes. What an older relay does not tell is optional in answers. */
import * as z from "zod";
import {
  askRuleSchema,
  askRulesSchema,
  domainSchema,
  folderSchema,
  pathGlobSchema,
  toolGlobSchema,
} from "./access-rules.ts";
import { effectSchema } from "./effects.ts";
import { familySchema } from "./family-schemas.ts";
import { credentialSchema, grantClientSchema, grantKindSchema, tagSchema } from "./grant.ts";
import { shownName } from "./plain-names.ts";
import { DEFAULT_FAMILIES, FAMILIES } from "./tool-families.ts";

const time = z.iso.datetime();

const devices = z.array(z.string()).min(1).max(256);
const tags = z.array(tagSchema).min(1).max(16);
const paths = z.array(folderSchema).min(1).max(64);
const deniedPaths = z.array(pathGlobSchema).max(64);
const tools = z.array(toolGlobSchema).min(1).max(256);
const families = z.array(familySchema).min(1).max(FAMILIES.length);
const effects = z.array(effectSchema).min(1);
const network = z.array(domainSchema).max(64);
const days = z.int().min(1).max(365);

export const tokenAccessSchema = z.enum(["full", "read"]);

/** `POST /v1/tokens` */
export const newTokenSchema = z.strictObject({
  name: shownName,
  credential: credentialSchema
    .exclude(["person", "guest"])
    .optional()
    .describe("`ai` (default): an AI grant, never the owner's; `script`: acts as you, never for an AI"),
  access: tokenAccessSchema
    .optional()
    .describe(
      "Of older clients, instead of what follows `paths`: `read`; `full`, which without `paths` is a script",
    ),
  devices: devices.optional().describe("Device ids; without `devices` and `tags`, all devices"),
  tags: tags.optional().describe("Devices with one of these tags, besides `devices`"),
  paths: paths
    .nullable()
    .optional()
    .describe("Folders for file tools and commands; an AI grant must say, null: no limit to folders"),
  denied_paths: deniedPaths.optional().describe("Globs of paths that are closed, also in those folders"),
  secrets: z
    .literal("open")
    .optional()
    .describe("An AI grant sees secrets such as ~/.ssh and .env files, which are closed otherwise"),
  tools: tools.optional().describe("Tools by name or glob; if absent, all"),
  tool_families: families
    .optional()
    .describe(
      `Families of tools that models are shown; if absent: ${DEFAULT_FAMILIES.join(", ")}. No right comes with them: that is \`tools\``,
    ),
  effects: effects.optional().describe("If absent: read, write, execute"),
  ask: askRulesSchema
    .optional()
    .describe("When you are asked first; if absent, before an AI grant writes or executes; []: never"),
  network: network.optional().describe("Domains that sandboxed commands may reach; if absent, none"),
  days: days.default(90),
});
export type NewToken = z.infer<typeof newTokenSchema>;

/** `PATCH /v1/tokens/{grant}`: what is absent stays, null lifts a limit. */
export const changedTokenSchema = z.strictObject({
  name: shownName.optional(),
  devices: devices.nullable().optional(),
  tags: tags.nullable().optional(),
  paths: paths.nullable().optional(),
  denied_paths: deniedPaths.nullable().optional(),
  secrets: z.literal("open").nullable().optional().describe("null closes them again"),
  tools: tools.nullable().optional(),
  tool_families: families.nullable().optional().describe("null: the usual ones"),
  effects: effects.optional(),
  ask: askRulesSchema.nullable().optional().describe("null: never"),
  network: network.nullable().optional().describe("null: none"),
  days: days.optional().describe("From now; not past the day that the token was made for"),
});
export type ChangedToken = z.infer<typeof changedTokenSchema>;

export const tokenViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: grantKindSchema,
  credential: credentialSchema.optional(),
  client: grantClientSchema
    .optional()
    .describe("The AI client that a person let in by OAuth; otherwise absent"),
  access: tokenAccessSchema,
  summary: z.string().optional().describe("What it may do, in a sentence"),
  devices: z.array(z.string()).nullable(),
  tags: z.array(z.string()).nullable().optional(),
  paths: z.array(z.string()).nullable(),
  denied_paths: z.array(z.string()).nullable().optional(),
  secrets: z.enum(["open", "closed"]).optional(),
  tools: z.array(z.string()).nullable().optional(),
  tool_families: z.array(z.string()).nullable().optional().describe("null: the usual ones"),
  effects: z.array(effectSchema).optional(),
  ask: z.array(askRuleSchema.strip()).nullable().optional(),
  network: z.array(z.string()).nullable().optional(),
  shared_with: z.string().nullable().optional().describe("Who accepted a share; null: nobody yet"),
  version: z.int().optional().describe("Counts its changes"),
  created: time,
  expires: time,
});
export type TokenView = z.infer<typeof tokenViewSchema>;

export const tokenListSchema = z.object({ tokens: z.array(tokenViewSchema) });

/** The token itself is shown only this once. */
export const createdTokenSchema = z.object({
  token: z.string(),
  warning: z.string().optional().describe("What to know before using it"),
  ...tokenViewSchema.shape,
});

/** `GET` and `PATCH /v1/tokens/{grant}` */
export const tokenDetailsSchema = z.object({
  ...tokenViewSchema.shape,
  devices_holding: z.int().describe("Devices where it was used, which keep a copy of the grant"),
  devices_acknowledged: z.int().describe("How many of them confirmed to have its newest version"),
  holders: z.array(z.object({ device: z.string(), acknowledged: z.boolean() })),
});
export type TokenDetails = z.infer<typeof tokenDetailsSchema>;
