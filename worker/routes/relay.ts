/** The relay's whole HTTP interface: what is mounted, and what is described. */
import * as api from "@matrx/shared/api.ts";
import * as approvals from "@matrx/shared/approval.ts";
import * as audit from "@matrx/shared/audit.ts";
import { cancelRoute, recordRoutes } from "@matrx/shared/caller/calls.ts";
import { eventsRoute } from "@matrx/shared/caller/events.ts";
import { downloadRoute } from "@matrx/shared/caller/files/download.ts";
import { tusRoutes } from "@matrx/shared/caller/files/tus.ts";
import { uploadRoute } from "@matrx/shared/caller/files/upload.ts";
import { callBodySchema } from "@matrx/shared/caller/from-caller.ts";
import { guideRoutes } from "@matrx/shared/caller/guide.ts";
import { PATH, PENDING } from "@matrx/shared/caller/parts.ts";
import type { RecordingPort } from "@matrx/shared/caller/port.ts";
import { type CallerRoute, under } from "@matrx/shared/caller/route.ts";
import { toolRoutes } from "@matrx/shared/caller/tools.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import * as inviteApi from "@matrx/shared/invite-api.ts";
import * as oauthApi from "@matrx/shared/oauth-api.ts";
import * as bodies from "@matrx/shared/openapi/bodies.ts";
import type { Operation, Parameter, Surface } from "@matrx/shared/openapi/operation.ts";
import * as passkeyApi from "@matrx/shared/passkey-api.ts";
import * as pauseApi from "@matrx/shared/pause-api.ts";
import { policySchema, policySetSchema } from "@matrx/shared/policy.ts";
import * as pushApi from "@matrx/shared/push-api.ts";
import { questionSchema } from "@matrx/shared/question.ts";
import * as recoveryApi from "@matrx/shared/recovery-code.ts";
import * as sessionApi from "@matrx/shared/session-api.ts";
import * as shareApi from "@matrx/shared/share-api.ts";
import * as signInApi from "@matrx/shared/sign-in-api.ts";
import * as tokenApi from "@matrx/shared/token-api.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import type { RelayRoute } from "../route.ts";
import { RELAY_VERSION } from "../version.ts";
import { accountRoutes } from "./account.ts";
import { APPROVAL_PARAMETER, approvalRoutes, approvalsRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import {
  CLOUD_FILE_PARAMETER,
  cloudFileRoute,
  cloudFilesRoute,
  newCloudCopyRoute,
  newCloudFileRoute,
  removeCloudFileRoute,
} from "./cloud-files.ts";
import { consentRoutes } from "./consents.ts";
import { controlRoutes } from "./control.ts";
import { deviceRoutes, devicesRoutes } from "./devices.ts";
import { fileLinkRoute, LINK_PARAMETERS, newFileLinkRoute } from "./file-links.ts";
import { healthRoutes } from "./health.ts";
import { ACCOUNT_PARAMETER, INVITE_PARAMETER, invitesRoutes } from "./invites.ts";
import { oauthRoutes } from "./oauth.ts";
import { descriptionRoute } from "./openapi.ts";
import { docsRoute } from "./page.ts";
import { CODE_PARAMETER, pairingsRoutes } from "./pairings.ts";
import { PASSKEY_PARAMETER, passkeySignInRoutes, passkeysRoutes } from "./passkeys.ts";
import { pauseRoutes } from "./pause.ts";
import { newPortLinkRoute } from "./port-links.ts";
import { PUSH_SUBSCRIPTION_PARAMETER, pushRoutes } from "./push.ts";
import { recoveryRoutes } from "./recovery.ts";
import { sessionRoutes } from "./session.ts";
import { sharesRoutes } from "./shares.ts";
import { ISSUER_PARAMETER, signInRoutes } from "./sign-in.ts";
import { accountSocketRoutes, callerSocketRoutes, deviceSocketRoutes } from "./sockets.ts";
import { GRANT_PARAMETER, tokensRoutes } from "./tokens.ts";

/** Upgrades, which have their own credentials. */
export const socketRoutes = [...deviceSocketRoutes, ...callerSocketRoutes, ...accountSocketRoutes];

/** Routes of the relay itself. */
export const relayRoutes: readonly RelayRoute[] = [
  ...devicesRoutes,
  ...sessionRoutes,
  ...passkeySignInRoutes,
  ...passkeysRoutes,
  ...recoveryRoutes,
  ...signInRoutes,
  ...accountRoutes,
  ...invitesRoutes,
  ...sharesRoutes,
  ...tokensRoutes,
  fileLinkRoute,
  cloudFilesRoute,
  cloudFileRoute,
  removeCloudFileRoute,
  ...approvalsRoutes,
  ...pauseRoutes,
  ...pushRoutes,
  ...auditRoutes,
  ...pairingsRoutes,
  ...oauthRoutes,
  ...consentRoutes,
  ...healthRoutes,
  descriptionRoute(() => RELAY),
  docsRoute,
];

/** Routes of one device, for managing it. */
export const managedRoutes: readonly RelayRoute[] = [
  newFileLinkRoute,
  newPortLinkRoute,
  newCloudFileRoute,
  newCloudCopyRoute,
  ...deviceRoutes,
  ...controlRoutes,
  ...approvalRoutes,
];

/** Routes of one device, for calling it. */
export const callerRoutes: readonly CallerRoute<RecordingPort>[] = under("/v1/devices/{device}", [
  ...guideRoutes,
  ...toolRoutes({ 202: PENDING }),
  downloadRoute,
  uploadRoute,
  ...tusRoutes,
  ...recordRoutes,
  cancelRoute,
  eventsRoute,
]);

const which = (name: string): Parameter => ({
  ...PATH.device,
  description: `The device; without it, and without ${name}, the only device of the credential.`,
});

/** The guide's routes, whose paths name no device. */
export const rootRoutes: readonly CallerRoute<RecordingPort>[] = guideRoutes.map((route) => ({
  ...route,
  id: `${route.id}AtRoot`,
  summary: `${route.summary}, at the root`,
  description: "If you have several devices and name none: 400 with the choices.",
  query: { device: which(DEVICE_HEADER), ...route.query },
  headers: { [DEVICE_HEADER]: which("`?device=`"), ...route.headers },
  errors: [...(route.errors ?? []), "UNKNOWN_DEVICE"],
}));

export const OPERATIONS: readonly Operation[] = [
  ...relayRoutes,
  ...managedRoutes,
  ...callerRoutes,
  ...rootRoutes,
  ...socketRoutes,
];

export const RELAY: Surface = {
  title: "Matrx Relay",
  version: RELAY_VERSION,
  description:
    "Reach home machines from anywhere: call their tools over REST and WebSocket. Every error is problem+json (RFC 9457) with a `code`, usually a `hint` on what to do, and `hop`, where it came from. docs/protocol.md describes frames, limits and the life of a call. Fields may be added to answers; ignore unknown ones.",
  tags: {
    Devices: "The machines of an account",
    Tools: "What a machine can do, and how to call it",
    Calls: "The record of a call",
    Files: "A machine's files, as bytes",
    Events: "What a machine reports on its own",
    Guide: "The guide's REST interface; its base address is `/v1/devices/{device}`, or the root",
    Account: "Signing in and out",
    Passkeys: "How a person signs in, and what helps when all are lost",
    People: "The accounts on a relay, and what they share",
    Tokens: "Credentials for scripts and apps",
    Approvals: "Calls that a person must allow first",
    Notifications: "What a person is told in browsers, even if no page is open",
    Record: "Who did what on which machine, provably",
    Pairing: "Adding a machine, signing in a command line",
    OAuth: "How AI clients are let in (MCP)",
    Links: "WebSockets",
    Relay: "The relay itself",
  },
  security: {
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description:
        "An AI grant's or a script's token, the token of `matrx login`, or a page's access token (`POST /v1/session`)",
    },
  },
  path: {
    ...PATH,
    ...LINK_PARAMETERS,
    grant: GRANT_PARAMETER,
    code: CODE_PARAMETER,
    approval: APPROVAL_PARAMETER,
    passkey: PASSKEY_PARAMETER,
    issuer: ISSUER_PARAMETER,
    invite: INVITE_PARAMETER,
    account: ACCOUNT_PARAMETER,
    cloud_file: CLOUD_FILE_PARAMETER,
    subscription: PUSH_SUBSCRIPTION_PARAMETER,
  },
  schemas: {
    ...api,
    ...tokenApi,
    ...approvals,
    ...pauseApi,
    ...pushApi,
    auditPageSchema: audit.auditPageSchema,
    auditEntrySchema: audit.auditEntrySchema,
    auditBySchema: audit.auditBySchema,
    auditInputSchema: audit.auditInputSchema,
    auditMaySchema: audit.auditMaySchema,
    auditPolicySchema: audit.auditPolicySchema,
    signedHeadSchema: audit.signedHeadSchema,
    ...inviteApi,
    ...shareApi,
    sessionKeySchema: sessionApi.sessionKeySchema,
    claimSchema: sessionApi.claimSchema,
    signedInSchema: sessionApi.signedInSchema,
    revokedSessionsSchema: sessionApi.revokedSessionsSchema,
    ...oauthApi,
    ...passkeyApi,
    ...recoveryApi,
    ...signInApi,
    questionSchema,
    ...bodies,
    callBodySchema,
    policySchema,
    policySetSchema,
    toolDescriptionSchema,
  },
  operations: OPERATIONS,
  implied,
};

/** Any request may have a wrong Host or hit an internal error; the rest follows from its credential, path and body. */
function implied({ access, path, body }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ["PERMISSION_DENIED", "INTERNAL"];
  if (access === "caller" || access === "person")
    codes.push("UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED");
  if (path.includes("{device}")) codes.push("UNKNOWN_DEVICE");
  if (body) codes.push("INVALID_MESSAGE", "INVALID_PARAMETERS", "PAYLOAD_TOO_LARGE");
  return codes;
}
