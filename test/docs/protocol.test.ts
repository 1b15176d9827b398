/** docs/protocol.md against the code: its examples are parsed, its tables compared. */
import { personActionSchema, toPersonSchema } from "@matrx/shared/account-frames.ts";
import * as api from "@matrx/shared/api.ts";
import { newDecisionSchema } from "@matrx/shared/approval.ts";
import { actionSchema, callSchema, parseCallerFrame } from "@matrx/shared/caller/from-caller.ts";
import { toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { fromDeviceSchema, toDeviceSchema } from "@matrx/shared/device-frames.ts";
import { ERROR_CODES, type ErrorShape, errorInfo, problemOf } from "@matrx/shared/errors.ts";
import { newFileLinkSchema } from "@matrx/shared/file-link-api.ts";
import { isCallId, isDeviceId, isSessionId } from "@matrx/shared/ids.ts";
import * as inviteApi from "@matrx/shared/invite-api.ts";
import * as oauthApi from "@matrx/shared/oauth-api.ts";
import * as passkeyApi from "@matrx/shared/passkey-api.ts";
import { cancelCallsSchema, newPauseSchema } from "@matrx/shared/pause-api.ts";
import { policySchema } from "@matrx/shared/policy.ts";
import { explainWishSchema } from "@matrx/shared/policy-explain.ts";
import { newPortLinkSchema } from "@matrx/shared/port-link-api.ts";
import * as pushApi from "@matrx/shared/push-api.ts";
import { recoverySignInSchema } from "@matrx/shared/recovery-code.ts";
import {
  decodeAgentFrame,
  encodeOutputFrame,
  encodeResultFrame,
  outputHeaderSchema,
  resultHeaderSchema,
} from "@matrx/shared/result-frame.ts";
import { retryAfterHeaderOf, retryIn } from "@matrx/shared/retry.ts";
import { claimSchema, proofClaimsSchema } from "@matrx/shared/session-api.ts";
import * as shareApi from "@matrx/shared/share-api.ts";
import * as signInApi from "@matrx/shared/sign-in-api.ts";
import { decodeStreamFrame, encodeStreamFrame } from "@matrx/shared/streams/frame.ts";
import * as tokenApi from "@matrx/shared/token-api.ts";
import { type DeviceAssertion, PROTOCOL } from "@matrx/shared/tokens.ts";
import { describe, expect, it, test } from "vitest";
import * as z from "zod";
import { callBodySchema } from "../../shared/caller/from-caller.ts";
import { newCloudCopySchema, newCloudFileSchema } from "../../shared/cloud-file-api.ts";
import { pendingCallSchema } from "../../shared/openapi/bodies.ts";
import { limitsTable } from "./limits-table.ts";
import { EXAMPLES, example, examplesOf, generated, HEX, PAGE, tableOf } from "./page.ts";

/** The code only writes it. */
const deviceAssertionSchema: z.ZodType<DeviceAssertion> = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  nonce: z.string(),
});

/** Every frame that the code knows, by the label of its example, with the schema that reads it. */
const FRAMES: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ["Call", callSchema],
  ...actionSchema.options.map(({ shape }) => [`Action ${shape.action.value}`, actionSchema] as const),
  ...toCallerSchema.options.map(({ shape }) => [`ToCaller ${shape.type.value}`, toCallerSchema] as const),
  ["ToCaller unreadable", toCallerSchema],
  ["ToCaller rate", toCallerSchema],
  ...fromDeviceSchema.options.map(
    ({ shape }) => [`FromDevice ${shape.type.value}`, fromDeviceSchema] as const,
  ),
  ...toDeviceSchema.options.map(({ shape }) => [`ToDevice ${shape.type.value}`, toDeviceSchema] as const),
  ["ResultFrame header", resultHeaderSchema],
  ["ResultFrame body", toCallerSchema],
  ["OutputFrame header", outputHeaderSchema],
  ["OutputFrame body", toCallerSchema],
  ["DeviceAssertion", deviceAssertionSchema],
  ["ProofClaims", proofClaimsSchema],
  ...toPersonSchema.options.map(({ shape }) => [`ToPerson ${shape.type.value}`, toPersonSchema] as const),
  ["PersonAction ping", personActionSchema],
  ["PersonAction watch", personActionSchema],
  ["CallEvent call", api.callEventSchema],
  ["CallEvent output", api.outputEventSchema],
  ["CallEvent gap", api.gapEventSchema],
  ["CallEvent pending", pendingCallSchema],
  ["CallEvent progress", api.progressEventSchema],
  ["Problem", api.problemSchema],
  ["Problem rate", api.problemSchema],
]);

describe("examples", () => {
  it("are one for each frame, and no more", () => {
    expect(EXAMPLES.map(({ label }) => label).sort()).toEqual([...FRAMES.keys()].sort());
  });

  it.each([...FRAMES])("%s is one, and shows no field that the code does not know", (label, schema) => {
    const shown = example(label);
    expect(schema.parse(shown)).toEqual(shown);
  });

  it.each(["FromDevice", "ToDevice", "ToCaller", "ToPerson", "Action"])(
    "%s is read by the frame that it is named after",
    (union) => {
      for (const [name, shown] of examplesOf(union)) {
        const { type, action = type } = shown as { type?: string; action?: string };
        expect(action).toBe(["unreadable", "rate"].includes(name) ? "error" : name);
      }
    },
  );

  it("show every field of a frame but those of another kind of device", () => {
    const missing = [...fromDeviceSchema.options, ...toDeviceSchema.options, callSchema].flatMap((option) => {
      const { type } = option.shape as { type?: { value: string } };
      const direction = fromDeviceSchema.options.includes(option as never) ? "FromDevice" : "ToDevice";
      const label = type ? `${direction} ${type.value}` : "Call";
      const shown = example(label) as object;
      return Object.keys(option.shape)
        .filter((field) => !(field in shown))
        .map((field) => `${label}: ${field}`);
    });
    expect(missing).toEqual([
      // Optional, and as in the frames beside it.
      "FromDevice tool_result: error",
      "FromDevice user_query: timestamp",
      // Instead of all else.
      "FromDevice tool_prepared: error",
      // Reserved, and refused.
      "Call: queue_for",
    ]);
  });

  it("of the caller are read by the parser that relay and local server use", () => {
    expect(parseCallerFrame(JSON.stringify(example("Call")))).toEqual({
      kind: "call",
      call: example("Call"),
    });
    for (const shown of examplesOf("Action").values())
      expect(parseCallerFrame(JSON.stringify(shown))).toEqual({ kind: "action", action: shown });
  });

  it("name devices, calls and sessions as the relay does", () => {
    const wrong: unknown[] = [];
    const look = (key: string, value: unknown) => {
      if (/^(call|tool_call_id|tool_call_ids)$/.test(key) && typeof value === "string" && !isCallId(value))
        wrong.push(value);
      if (/^(device|device_id|iss)$/.test(key) && !isDeviceId(String(value))) wrong.push(value);
      if (key === "session" && !isSessionId(String(value))) wrong.push(value);
      return value;
    };
    for (const { text } of EXAMPLES) JSON.parse(text, look);
    expect(wrong).toEqual([]);
  });

  it.each(["Problem", "Problem rate"])("of a %s is what the code makes of an error", (label) => {
    const {
      type: _,
      title: __,
      status: ___,
      detail,
      code,
      hint,
      hop,
      ...details
    } = api.problemSchema.parse(example(label));
    const shape: ErrorShape = { code, message: detail, hint, hop: hop as ErrorShape["hop"], details };
    expect(problemOf(shape)).toEqual(example(label));
  });

  it("of a refusal for its rate say the same wait everywhere, and the hint in words", () => {
    const problem = example("Problem rate") as ErrorShape & { retry_after_ms: number };
    const { hint, details } = retryIn(
      problem.retry_after_ms,
      "the owner can raise the rates in the device's policy",
    );
    expect(problem).toMatchObject({ hint, ...details });
    expect(example("ToCaller rate")).toMatchObject({ hint, metadata: details });
    expect(retryAfterHeaderOf({ code: "RATE_LIMITED", message: "", hop: "relay", details })).toBe("3");
  });
});

describe("what is not known", () => {
  it.each([...FRAMES].filter(([label]) => /^(Call|Action|FromDevice|ToDevice|.*header)/.test(label)))(
    "in %s is ignored",
    (label, schema) => {
      const newer = { ...(example(label) as object), of_a_later_release: { x: 1 } };
      expect(schema.parse(newer)).toEqual(example(label));
    },
  );

  it.each([
    ["POST /v1/devices", api.newDeviceSchema, { name: "x" }],
    ["POST /v1/tokens", tokenApi.newTokenSchema, { name: "x", paths: ["/srv"], days: 1 }],
    ["PATCH /v1/tokens/:grant", tokenApi.changedTokenSchema, { effects: ["read"] }],
    ["PUT policy", policySchema, { allowed_tools: [] }],
  ])("is refused in the body of %s", (_route, schema: z.ZodType, body) => {
    expect(schema.safeParse(body).success).toBe(true);
    expect(schema.safeParse({ ...body, alowed_paths: [] }).success).toBe(false);
  });

  it("is the reserved queue_for, which is refused", () => {
    expect(callSchema.safeParse({ tool: "Read", queue_for: 60 }).success).toBe(false);
  });
});

describe("binary frames", () => {
  const encoders = { ResultFrame: encodeResultFrame, OutputFrame: encodeOutputFrame };

  it("have an example each", () => {
    expect(HEX.map(({ label }) => label)).toEqual([...Object.keys(encoders), "StreamFrame"]);
  });

  it("of a stream is encoded and decoded as shown", () => {
    const text = HEX.find(({ label }) => label === "StreamFrame")?.text ?? "";
    const address = { connection: "0123456789abcdef", stream: 7, bulk: false };
    const payload = new TextEncoder().encode("hello");
    const frame = encodeStreamFrame(address, "data", payload);
    expect(Buffer.from(frame).toString("hex")).toBe(text.replace(/\s/g, ""));
    expect(decodeStreamFrame(frame)).toEqual({ ...address, kind: "data", payload });
  });

  it.each(HEX.filter(({ label }) => label in encoders))(
    "$label is encoded and decoded as shown",
    ({ label, text }) => {
      const encode = encoders[label as keyof typeof encoders] as typeof encodeResultFrame;
      const header = resultHeaderSchema
        .loose()
        .partial()
        .parse(example(`${label} header`));
      const body = example(`${label} body`);
      const frame = encode(header as never, Buffer.from(JSON.stringify(body)));
      expect(Buffer.from(frame).toString("hex")).toBe(text.replace(/\s/g, ""));

      const decoded = decodeAgentFrame(new Uint8Array(Buffer.from(text.replace(/\s/g, ""), "hex")).buffer);
      expect(`${decoded.kind}frame`).toBe(label.toLowerCase());
      expect(decoded.header).toEqual(header);
      expect(JSON.parse(Buffer.from(decoded.body).toString())).toEqual(body);
    },
  );
});

describe("tables", () => {
  it("list every error code as it is outside", () => {
    const rows = tableOf("code", "HTTP", "exit", "title", "ran");
    const wanted = ERROR_CODES.map((code) => {
      const { status, exit, title } = errorInfo(code);
      return [code, String(status), String(exit), title];
    });
    expect(rows.map((row) => row.slice(0, 4))).toEqual(wanted);
    expect(rows.filter(([, , , , ran]) => !ran)).toEqual([]);
  });

  it("list every close code", () => {
    const rows = tableOf("code", "name", "meaning").map(([code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(rows)).toEqual(CLOSE);
  });

  it("list every limit and time (UPDATE_DOCS=1 writes it anew)", () => {
    const wanted = limitsTable();
    expect(generated("limits", wanted)).toBe(wanted);
  });

  it("list every state of a call", () => {
    const states = tableOf("state", "meaning").map(([state]) => state);
    expect(states).toEqual(api.callViewSchema.shape.state.options);
  });

  it("show the fields of each route's body", () => {
    const bodies = tableOf("method", "path", "who may")
      .filter(([, , , body]) => body?.startsWith("{"))
      .map(([method, path, , body]) => [`${method} ${path}`, body]);
    expect(Object.fromEntries(bodies)).toEqual(
      Object.fromEntries(Object.entries(BODIES).map(([route, schema]) => [route, fieldsOf(schema)])),
    );
  });
});

const BODIES: Record<string, z.ZodObject> = {
  "POST /v1/claim": claimSchema,
  "POST /v1/sign-in/passkey": passkeyApi.passkeySignInSchema,
  "POST /v1/sign-in/recovery": recoverySignInSchema,
  "POST /v1/passkeys": passkeyApi.newPasskeySchema,
  "PATCH /v1/passkeys/:passkey": passkeyApi.changedPasskeySchema,
  "POST /v1/sign-in/oidc/:issuer": signInApi.issuerStartSchema,
  "POST /v1/sign-in/oidc/:issuer/finish": signInApi.issuerFinishSchema,
  "PATCH /v1/account": inviteApi.changedAccountSchema,
  "POST /v1/invites": inviteApi.newInviteSchema,
  "POST /v1/invites/accept": inviteApi.acceptedInviteSchema,
  "POST /v1/oauth/requests": oauthApi.clientRequestSchema,
  "POST /v1/oauth/consents": oauthApi.newConsentSchema,
  "POST /v1/oauth/refusals": oauthApi.clientRequestSchema,
  "POST /v1/shares": shareApi.newShareSchema,
  "POST /v1/shares/accept": shareApi.acceptedShareSchema,
  "POST /v1/tickets": api.newTicketSchema,
  "POST /v1/tokens": tokenApi.newTokenSchema,
  "PATCH /v1/tokens/:grant": tokenApi.changedTokenSchema,
  "POST /v1/pause": newPauseSchema,
  "PATCH /v1/push": pushApi.changedPushSchema,
  "POST /v1/push/subscriptions": pushApi.newPushSubscriptionSchema,
  "PATCH /v1/push/subscriptions/:subscription": pushApi.changedPushSubscriptionSchema,
  "POST /v1/push/test": pushApi.newPushTestSchema,
  "POST /v1/calls/cancel": cancelCallsSchema,
  "POST /v1/pairings": api.newPairingSchema,
  "POST /v1/logins": api.newLoginSchema,
  "POST /v1/pairings/:code/poll": api.pollPairingSchema,
  "POST /v1/devices": api.newDeviceSchema,
  "PATCH /v1/devices/:device": api.changedDeviceSchema,
  "PUT /v1/devices/:device/policy": policySchema,
  "POST /v1/devices/:device/file-links": newFileLinkSchema,
  "POST /v1/devices/:device/port-links": newPortLinkSchema,
  "POST /v1/devices/:device/cloud-files": newCloudFileSchema,
  "POST /v1/devices/:device/cloud-copies": newCloudCopySchema,
  "POST /v1/devices/:device/policy/explain": explainWishSchema,
  "POST /v1/devices/:device/approvals/:approval": newDecisionSchema,
  "POST /v1/devices/:device/commands": api.newCommandSchema,
  "POST /v1/devices/:device/tools/invoke": callBodySchema,
  "POST /tools/invoke": callBodySchema,
};

/** `{name, days?}` of a schema. */
function fieldsOf({ shape }: z.ZodObject): string {
  const fields = Object.entries(shape).map(([name, field]) =>
    (field as z.ZodType).safeParse(undefined).success ? `${name}?` : name,
  );
  return `{${fields.join(", ")}}`;
}

test("the device link's number is the code's", () => {
  expect(PAGE).toContain(`The device link has the number ${PROTOCOL}`);
  expect(example("FromDevice device_register")).toMatchObject({ protocol: PROTOCOL });
});

test("every link leads to a heading", () => {
  const headings = [...PAGE.matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
    text.toLowerCase().replaceAll(" ", "-"),
  );
  const links = [...PAGE.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((anchor) => !headings.includes(anchor ?? ""))).toEqual([]);
});
