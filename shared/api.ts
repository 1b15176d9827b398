/** REST bodies, for the relay that writes them and the clients that read them. Times are ISO 8601 in UTC. */
import * as z from "zod";
import { callApprovalSchema } from "./approval.ts";
import { progressSchema } from "./content.ts";
import { ERROR_CODES } from "./errors.ts";
import { credentialSchema, grantKindSchema, tagSchema } from "./grant.ts";
import { LIMITS } from "./limits.ts";
import { pausedSchema } from "./paused.ts";
import { shownName, shownText } from "./plain-names.ts";
import { systemCommandNameSchema } from "./system-commands.ts";
import { toolDescriptionSchema } from "./tool.ts";
import { toolDefinitionSchema, toolFormatSchema } from "./tool-formats.ts";

const time = z.iso.datetime();

/** Device document, Backend Device States. */
export const deviceStateSchema = z.enum(["ONLINE", "IDLE", "OFFLINE", "UNKNOWN"]);
export type DeviceState = z.infer<typeof deviceStateSchema>;

/** The last time that a real tool of the device answered. */
export const proofSchema = z.object({
  at: time,
  verdict: z.enum(["success", "error", "cancelled"]),
  tool: z.string(),
  ms: z.number(),
});
export type Proof = z.infer<typeof proofSchema>;

export const deviceViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: z
    .enum(["agent", "bare"])
    .describe("`agent`: our program; `bare`: one that implements only the device document"),
  state: deviceStateSchema,
  last_seen: time.nullable(),
  proof: proofSchema.nullable(),
  hostname: z.string().nullable(),
  os: z.string().nullable(),
  os_version: z.string().nullable(),
  agent_version: z.string().nullable(),
  created: time,
  tags: z.array(z.string()).optional().describe("An older relay has none"),
  shared_by: z.string().optional().describe("The account that shares it; absent: it is your own"),
  paused: pausedSchema
    .nullable()
    .optional()
    .describe(
      "Whom the device's user closed it to, at the machine; null also while the device is not connected",
    ),
  alerts: z.int().optional().describe("Conditions the device reported that are still open"),
  records_lost: time
    .nullable()
    .optional()
    .describe(
      "When the relay last noticed that its storage had lost records of calls; changes of the policy may be lost too",
    ),
});
export type DeviceView = z.infer<typeof deviceViewSchema>;

/** `GET /v1/devices` */
export const deviceListSchema = z.object({
  devices: z.array(deviceViewSchema),
  unreadable: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .exactOptional()
    .describe("Devices whose stored data the relay cannot read; ask for one to see why"),
});

/** `PATCH /v1/devices/{device}`: its name, its tags, or both; the id stays. */
export const changedDeviceSchema = z.strictObject({
  name: shownName.optional(),
  tags: z
    .array(tagSchema)
    .max(16)
    .optional()
    .describe("All of its tags; tokens made for a tag follow it at once"),
});

/** `POST /v1/devices`: a bare device gets its id and its token, shown once. */
export const newDeviceSchema = z.strictObject({ name: shownName });
export const createdDeviceSchema = z.object({ device: deviceViewSchema, token: z.string(), expires: time });

/** `GET /v1/devices/{device}/tools` */
export const deviceToolsSchema = z.object({
  device: z.string(),
  hash: z.string().nullable(),
  tools: z.array(toolDescriptionSchema),
});

/** `GET .../tools?format=`: what this caller may call, as an AI's API takes it. Lists of the guide have no `device`, the local server's no `hash`. */
export const toolDefinitionsSchema = z.object({
  device: z.string().optional(),
  hash: z.string().nullable().optional(),
  format: toolFormatSchema,
  tools: z.array(toolDefinitionSchema),
});

/** `GET .../tools/list` (guide, List Available Tools) */
export const toolNamesSchema = z.object({ tools: z.array(z.string()) });

/** `GET /v1/devices/{device}/calls/{call}` */
export const callViewSchema = z.object({
  call: z.string(),
  device: z.string(),
  tool: z.string(),
  state: z.enum(["awaiting_approval", "accepted", "finished", "expired", "unknown"]),
  created: time,
  deadline: time,
  finished: time.nullable(),
  status: z.enum(["success", "error", "cancelled"]).nullable(),
  code: z.enum(ERROR_CODES).nullable(),
  outcome_in: z
    .enum(["here", "journal"])
    .nullable()
    .describe("Where the outcome's body is: here, in the device's journal, or no longer kept"),
  approval: callApprovalSchema.exactOptional().describe("If a person is, or was, asked about the call"),
  outcome: z.unknown().optional(),
});
export type CallView = z.infer<typeof callViewSchema>;

/** `GET /v1/devices/{device}/calls`, in the query */
export const callQuerySchema = z.object({
  state: callViewSchema.shape.state.optional(),
  before: z.uuidv7().optional().describe("Only calls older than this one: `next` of the previous page"),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});
export type CallQuery = z.infer<typeof callQuerySchema>;

/** A call in a list; its record has the outcome. */
export const listedCallSchema = callViewSchema.omit({ outcome: true });
export type ListedCall = z.infer<typeof listedCallSchema>;

/** Newest first. */
export const callListSchema = z.object({
  device: z.string(),
  calls: z.array(listedCallSchema),
  next: z.string().nullable().describe("Use as `before` to get the next page; null: there is none"),
});
export type CallList = z.infer<typeof callListSchema>;

/** An event as the relay keeps it; also in the frame `event` of a caller that asked for events. */
export const eventViewSchema = z.object({
  id: z.string().describe("The device's own, or else one from the relay"),
  event_type: z.string(),
  severity: z.string().nullable(),
  key: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  resolved: z.boolean().describe("It ends the condition reported with this type and key"),
  open: z.boolean().describe("It has a key, and is the newest event with this type and key"),
  timestamp: z.string().nullable().describe("When it happened, according to the device"),
  received: time,
  dropped: z.int().describe("How many were dropped right before this one because the device sent too many"),
});
export type EventView = z.infer<typeof eventViewSchema>;

/** `GET /v1/devices/{device}/events`, in the query */
export const eventQuerySchema = z.object({
  after: z.uuid().optional().describe("Only events after this one; if it is no longer kept, all of them"),
  limit: z.coerce.number().int().min(1).max(LIMITS.eventsKept).default(LIMITS.eventsKept),
});
export type EventQuery = z.infer<typeof eventQuerySchema>;
/** Newest last. */
export const eventListSchema = z.object({
  device: z.string(),
  events: z.array(eventViewSchema),
  dropped: z.int().describe("How many were dropped after the newest one"),
});
export type EventList = z.infer<typeof eventListSchema>;

/** `POST /v1/devices/{device}/commands` */
export const newCommandSchema = z.strictObject({
  command: systemCommandNameSchema,
  reason: z.string().max(500).optional().describe("Shown in the device's log"),
});
/** The command was handed to the device's connection. */
export const commandedSchema = z.object({ device: z.string(), command: systemCommandNameSchema });

/** The events of a call over `text/event-stream`: the first, ... */
export const callEventSchema = z.object({
  call: z.string(),
  device: z.string(),
  session: z.string().exactOptional(),
  deadline: time,
});
/** ... whether a person is asked, ... */
export const approvalEventSchema = z.object({
  type: z.literal("approval"),
  call: z.string(),
  approval: z.string(),
  state: callApprovalSchema.shape.state,
  ...callApprovalSchema.pick({ expires: true, summary: true, edited: true }).shape,
});
/** ... live output, ... */
export const outputEventSchema = z.object({
  id: z.string().exactOptional().describe("The caller's, if the call was made on a WebSocket"),
  type: z.literal("output"),
  channel: z.enum(["stdout", "stderr"]),
  offset: z.int(),
  data: z.string(),
});
/** ... and what was left out of it; last comes an answer or a problem. */
export const gapEventSchema = z.object({ type: z.literal("gap"), frames: z.int() });

/** How far the call is, beside its live output. */
export const progressEventSchema = z.object({ type: z.literal("progress"), ...progressSchema.shape });

/** `GET /v1/account` */
export const accountViewSchema = z.object({
  account: z.string(),
  grant: z.string(),
  name: z.string(),
  kind: grantKindSchema,
  credential: credentialSchema.optional().describe("An older relay does not tell"),
  person: z.boolean().describe("A signed-in person, who may manage tokens, devices and policies"),
  display_name: z.string().nullable().optional().describe("How others see the account"),
  relay_owner: z
    .boolean()
    .optional()
    .describe("The account of whoever runs the relay, which may invite others"),
  expires: time,
});

/** `POST /v1/pairings`: a device asks to be paired. */
export const newPairingSchema = z.strictObject({
  name: shownName,
  hostname: shownText.max(255),
  os: shownText.max(64),
  os_version: shownText.max(128),
  public_key: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, "must be an Ed25519 public key in base64url")
    .describe("Ed25519 public key: the `x` of its JWK (32 bytes, base64url)"),
});

/** `POST /v1/logins`: a command line asks for a person session. */
export const newLoginSchema = z.strictObject({ name: shownName });

/** Answer to both (RFC 8628, section 3.2). */
export const startedPairingSchema = z.object({
  code: z.string().describe("8 characters, shown as `ABCD-EFGH`"),
  secret: z.string().describe("Proves to `poll` that the same program is asking"),
  verification_uri: z.url().describe("Open this while signed in to approve"),
  expires_in: z.int(),
  interval: z.int().describe("Seconds between two polls; the first few may follow sooner"),
});

/** `GET /v1/pairings/{code}`: what the owner sees before confirming. */
export const pairingViewSchema = z.object({
  kind: z.enum(["device", "login"]),
  name: z.string(),
  hostname: z.string().nullable(),
  os: z.string().nullable(),
  os_version: z.string().nullable(),
  fingerprint: z.string().nullable().describe("SHA-256 of the public key, first 16 bytes in hex groups of 4"),
  expires: time,
});

/** `POST /v1/pairings/{code}/poll` */
export const pollPairingSchema = z.strictObject({ secret: z.string().max(4096) });
export const polledPairingSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("pending") }),
  z.object({ status: z.literal("paired"), device_id: z.string(), name: z.string(), account: z.string() }),
  z.object({ status: z.literal("signed_in"), token: z.string(), account: z.string(), expires: time }),
]);

/** `POST /v1/sign-in-links`: for another device of the same person. */
export const signInLinkSchema = z.object({
  link: z.url().describe("Whoever opens it first is signed in as the account"),
  expires_in: z.int().describe("Seconds"),
  qr_svg: z.string().describe("The link as a QR code: an SVG document"),
});

/** `POST /v1/tickets`: a one-use `?ticket=` for a WebSocket client that can send no header. */
export const newTicketSchema = z.strictObject({ device: z.string() });
export const ticketSchema = z.object({ ticket: z.string(), expires_in: z.int() });

/** Every error as problem+json (RFC 9457). */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(ERROR_CODES),
  hint: z.string().optional(),
  hop: z.string(),
});
