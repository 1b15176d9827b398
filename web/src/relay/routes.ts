/**
 * The routes that the app calls, with the types of what they take and answer: those of the schemas by which the relay checks
 * them. `test/web/routes.test.ts` holds this list against the relay's own description.
 */
import type * as api from "@matrx/shared/api.ts";
import type * as approval from "@matrx/shared/approval.ts";
import type * as audit from "@matrx/shared/audit.ts";
import type { Answer as CallAnswer } from "@matrx/shared/caller/to-caller.ts";
import type * as cloud from "@matrx/shared/cloud-file-api.ts";
import type * as link from "@matrx/shared/file-link-api.ts";
import type * as invite from "@matrx/shared/invite-api.ts";
import type * as oauth from "@matrx/shared/oauth-api.ts";
import type * as pairing from "@matrx/shared/openapi/bodies.ts";
import type * as passkey from "@matrx/shared/passkey-api.ts";
import type * as pause from "@matrx/shared/pause-api.ts";
import type * as policy from "@matrx/shared/policy.ts";
import type * as explain from "@matrx/shared/policy-explain.ts";
import type * as push from "@matrx/shared/push-api.ts";
import type * as recovery from "@matrx/shared/recovery-code.ts";
import type * as session from "@matrx/shared/session-api.ts";
import type * as share from "@matrx/shared/share-api.ts";
import type * as signIn from "@matrx/shared/sign-in-api.ts";
import type * as token from "@matrx/shared/token-api.ts";
import type * as z from "zod";

type Out<S extends z.ZodType> = z.output<S>;
type In<S extends z.ZodType> = z.input<S>;
type Nothing = undefined;

export interface Routes {
  "GET /v1/account": { answer: Out<typeof api.accountViewSchema> };
  "PATCH /v1/account": { body: In<typeof invite.changedAccountSchema>; answer: Nothing };
  "DELETE /v1/accounts/{account}": { answer: Nothing };

  "GET /v1/devices": { answer: Out<typeof api.deviceListSchema> };
  "POST /v1/devices": { body: In<typeof api.newDeviceSchema>; answer: Out<typeof api.createdDeviceSchema> };
  "GET /v1/devices/{device}": { answer: api.DeviceView };
  "PATCH /v1/devices/{device}": { body: In<typeof api.changedDeviceSchema>; answer: api.DeviceView };
  "DELETE /v1/devices/{device}": { answer: Nothing };
  "POST /v1/devices/{device}/commands": {
    body: In<typeof api.newCommandSchema>;
    answer: Out<typeof api.commandedSchema>;
  };
  "GET /v1/devices/{device}/tools": { answer: Out<typeof api.deviceToolsSchema> };
  /** The body is its input. `call-transport.ts` reads the answer as a stream of events. */
  "POST /v1/devices/{device}/tools/{tool}": { body: Record<string, unknown>; answer: CallAnswer };
  /** Its answer is bytes: `file-bytes.ts` reads them. */
  "GET /v1/devices/{device}/files/{path}": { answer: never };
  "POST /v1/devices/{device}/file-links": {
    body: In<typeof link.newFileLinkSchema>;
    answer: Out<typeof link.fileLinkSchema>;
  };
  /** Its answer comes as events. */
  "POST /v1/devices/{device}/cloud-files": {
    body: In<typeof cloud.newCloudFileSchema>;
    answer: Out<typeof cloud.cloudFileSchema>;
  };
  "GET /v1/devices/{device}/events": {
    query: In<typeof api.eventQuerySchema>;
    answer: api.EventList;
  };
  "GET /v1/devices/{device}/calls": { query: In<typeof api.callQuerySchema>; answer: api.CallList };
  "GET /v1/devices/{device}/calls/{call}": { answer: api.CallView };
  "POST /v1/devices/{device}/calls/{call}/cancel": { answer: { call: string } };
  "GET /v1/devices/{device}/policy": { answer: policy.Policy };
  "PUT /v1/devices/{device}/policy": {
    body: In<typeof policy.policySchema>;
    answer: Out<typeof policy.policySetSchema>;
  };
  "POST /v1/devices/{device}/policy/explain": {
    body: In<typeof explain.explainWishSchema>;
    answer: Out<typeof explain.explanationSchema>;
  };
  "GET /v1/devices/{device}/approvals/{approval}": { answer: approval.ApprovalDetail };
  "POST /v1/devices/{device}/approvals/{approval}": {
    body: approval.Decision;
    answer: approval.ApprovalDetail;
  };

  "GET /v1/approvals": { answer: Out<typeof approval.approvalListSchema> };
  "GET /v1/pause": { answer: pause.PauseView };
  "POST /v1/pause": { body: In<typeof pause.newPauseSchema>; answer: pause.PauseView };
  "POST /v1/calls/cancel": {
    body: In<typeof pause.cancelCallsSchema>;
    answer: Out<typeof pause.cancelledCallsSchema>;
  };

  "GET /v1/push": { answer: push.PushView };
  "PATCH /v1/push": { body: In<typeof push.changedPushSchema>; answer: push.PushView };
  "POST /v1/push/subscriptions": { body: push.NewPushSubscription; answer: push.PushSubscriptionView };
  "PATCH /v1/push/subscriptions/{subscription}": {
    body: In<typeof push.changedPushSubscriptionSchema>;
    answer: push.PushSubscriptionView;
  };
  "DELETE /v1/push/subscriptions/{subscription}": { answer: Nothing };
  "POST /v1/push/test": { body: In<typeof push.newPushTestSchema>; answer: push.PushTest };

  "GET /v1/tokens": { answer: Out<typeof token.tokenListSchema> };
  "POST /v1/tokens": { body: In<typeof token.newTokenSchema>; answer: Out<typeof token.createdTokenSchema> };
  "GET /v1/tokens/{grant}": { answer: token.TokenDetails };
  "PATCH /v1/tokens/{grant}": { body: In<typeof token.changedTokenSchema>; answer: token.TokenDetails };
  "DELETE /v1/tokens/{grant}": { answer: Nothing };

  "POST /v1/oauth/requests": {
    body: In<typeof oauth.clientRequestSchema>;
    answer: oauth.ClientRequestView;
  };
  "POST /v1/oauth/consents": {
    body: In<typeof oauth.newConsentSchema>;
    answer: Out<typeof oauth.answeredRequestSchema>;
  };
  "POST /v1/oauth/refusals": {
    body: In<typeof oauth.clientRequestSchema>;
    answer: Out<typeof oauth.answeredRequestSchema>;
  };

  "GET /v1/passkeys": { answer: Out<typeof passkey.passkeyListSchema> };
  "POST /v1/passkeys/options": {
    body: Record<string, never>;
    answer: Out<typeof passkey.passkeyCreationSchema>;
  };
  "POST /v1/passkeys": {
    body: In<typeof passkey.newPasskeySchema>;
    answer: Out<typeof passkey.passkeyViewSchema>;
  };
  "PATCH /v1/passkeys/{passkey}": {
    body: In<typeof passkey.changedPasskeySchema>;
    answer: Out<typeof passkey.passkeyViewSchema>;
  };
  "DELETE /v1/passkeys/{passkey}": { answer: Nothing };
  "GET /v1/recovery-codes": { answer: Out<typeof recovery.recoveryCodesLeftSchema> };
  "POST /v1/recovery-codes": {
    body: Record<string, never>;
    answer: Out<typeof recovery.recoveryCodesSchema>;
  };
  "POST /v1/sign-in-links": { body: Record<string, never>; answer: Out<typeof api.signInLinkSchema> };
  "POST /v1/sessions/revoke-others": {
    body: Record<string, never>;
    answer: Out<typeof session.revokedSessionsSchema>;
  };
  "POST /v1/sign-out": { answer: Nothing };
  "GET /v1/sign-in": { answer: Out<typeof signIn.signInMethodsSchema> };
  "POST /v1/sign-in/passkey/options": {
    body: Record<string, never>;
    answer: Out<typeof passkey.passkeyRequestSchema>;
  };
  "POST /v1/sign-in/oidc/{issuer}": {
    body: In<typeof signIn.issuerStartSchema>;
    answer: Out<typeof signIn.issuerStartedSchema>;
  };

  "GET /v1/invites": { answer: Out<typeof invite.inviteListSchema> };
  "POST /v1/invites": {
    body: In<typeof invite.newInviteSchema>;
    answer: Out<typeof invite.createdInviteSchema>;
  };
  "DELETE /v1/invites/{invite}": { answer: Nothing };
  "GET /v1/shares": { answer: Out<typeof share.shareListSchema> };
  "POST /v1/shares": { body: In<typeof share.newShareSchema>; answer: Out<typeof share.createdShareSchema> };
  "POST /v1/shares/accept": {
    body: In<typeof share.acceptedShareSchema>;
    answer: Out<typeof share.receivedShareSchema>;
  };
  "DELETE /v1/shares/{grant}": { answer: Nothing };

  "GET /v1/pairings/{code}": { answer: Out<typeof api.pairingViewSchema> };
  "POST /v1/pairings/{code}/confirm": {
    body: Record<string, never>;
    answer: Out<typeof pairing.confirmedPairingSchema>;
  };

  "GET /v1/audit": { query: In<typeof audit.auditQuerySchema>; answer: Out<typeof audit.auditPageSchema> };
  "GET /v1/audit/head": { answer: Out<typeof audit.signedHeadSchema> };
  "GET /v1/audit/export": { query: In<typeof audit.auditExportSchema>; answer: never };
  "GET /v1/health": { answer: { status: string } };
}

/** A method and a route's path, as the relay's description has them. */
export type Line = keyof Routes & string;

export type Answer<L extends Line> = Routes[L]["answer"];

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

type PathPart<L extends Line> = [Names<L>] extends [never]
  ? { path?: never }
  : { path: Readonly<Record<Names<L>, string>> };
type BodyPart<L extends Line> = Routes[L] extends { body: infer B } ? { body: B } : { body?: never };
type QueryPart<L extends Line> = Routes[L] extends { query: infer Q } ? { query?: Q } : { query?: never };

/** What a call of the route takes; nothing where it takes nothing. */
export type Options<L extends Line> =
  Record<never, never> extends PathPart<L> & BodyPart<L>
    ? [options?: PathPart<L> & BodyPart<L> & QueryPart<L>]
    : [options: PathPart<L> & BodyPart<L> & QueryPart<L>];
