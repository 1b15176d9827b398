/** Calls that wait for a person: who asks for what, and the person's decision. Person sessions only. */
import {
  type ApprovalDetail,
  type ApprovalView,
  approvalDetailSchema,
  approvalListSchema,
  newDecisionSchema,
} from "@matrx/shared/approval.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { CALL, DEVICE } from "@matrx/shared/caller/parts.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import type { Context } from "hono";
import * as z from "zod";
import { CALLER_BODY } from "../body.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const APPROVAL = "approval_4k7m2x9qpatr6w1z";

/** In paths. */
export const APPROVAL_PARAMETER: Parameter = {
  schema: z.string(),
  description: "An approval's id, as `GET /v1/approvals` lists it",
  example: APPROVAL,
};

const VIEW = {
  id: APPROVAL,
  device: DEVICE,
  call: CALL,
  grant: "grant_4k7m2x9qpatr6w1z",
  grant_name: "coding assistant",
  tool: "Bash",
  effect: "execute",
  summary: "Run in /home/ann/project: make test",
  state: "pending",
  at: null,
  created: "2026-02-12T10:30:00.000Z",
  expires: "2026-02-12T10:40:00.000Z",
  decided: null,
  decided_by: null,
  for: null,
  edited: false,
  note: null,
} as const satisfies ApprovalView;

const DETAIL: ApprovalDetail = {
  ...VIEW,
  question: {
    ...{ summary: VIEW.summary, tool: "Bash", effect: "execute" },
    command: { text: "make test", cwd: "/home/ann/project", sandbox: true },
    ...{ input: '{"command":"make test"}', warnings: [] },
  },
  binding: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};

const DECIDED: ApprovalDetail = {
  ...DETAIL,
  ...{ state: "allowed", decided: "2026-02-12T10:31:00.000Z", decided_by: "Firefox on Linux", for: "once" },
};

export const approvalsRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/approvals",
    id: "listApprovals",
    tag: "Approvals",
    summary: "Calls that wait for a decision",
    description: "On all devices, oldest first. The account link tells of new ones.",
    access: "person",
    answers: {
      200: { description: "Those that wait", schema: approvalListSchema, example: { approvals: [VIEW] } },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const approvals = unwrap(await c.env.ACCOUNT.getByName(caller.account).listApprovals(caller.grant));
      return c.json({ approvals } satisfies z.infer<typeof approvalListSchema>);
    },
  },
];

/** Routes of one device. */
export const approvalRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/approvals/{approval}",
    id: "getApproval",
    tag: "Approvals",
    summary: "What a call would do",
    description:
      "Exactly what would run, with hidden characters written out. The last 200 of a device are kept, for 24 hours.",
    access: "person",
    answers: { 200: { description: "The question", schema: approvalDetailSchema, example: DETAIL } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      await person(c);
      const { caller, device } = c.var;
      return c.json(
        await named(c, unwrap((await device.approval(caller, idOf(c))) as Outcome<ApprovalDetail>)),
      );
    },
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/approvals/{approval}",
    id: "decideApproval",
    tag: "Approvals",
    summary: "Allow or deny a call",
    description:
      "The first answer counts; a second one is a `CONFLICT` that names who decided. With `input`, the device prepares that input instead of the caller's, and the answer shows what it makes of it. `hour` also allows calls with the same binding for an hour; `always` excepts the tool from what the grant asks about.",
    access: "person",
    body: { schema: newDecisionSchema, example: { decision: "allow", for: "once" } },
    answers: { 200: { description: "The decision", schema: approvalDetailSchema, example: DECIDED } },
    errors: ["NOT_FOUND", "CONFLICT", "DEVICE_OFFLINE", "TIMEOUT"],
    answer: async (c) => {
      const { name, id: grant } = await person(c);
      const { caller, device } = c.var;
      const decision = await readBody(c.req.raw, CALLER_BODY, newDecisionSchema);
      const decided = await device.decide(caller, idOf(c), decision, { grant, name });
      return c.json(await named(c, unwrap(decided as Outcome<ApprovalDetail>)));
    },
  },
];

async function person(c: Context<RelayEnv>) {
  const { caller } = c.var;
  return unwrap(await c.env.ACCOUNT.getByName(caller.account).requirePerson(caller.grant));
}

/** Only the account knows the names of grants. */
async function named(c: Context<RelayEnv>, detail: ApprovalDetail): Promise<ApprovalDetail> {
  const grant = await c.env.ACCOUNT.getByName(c.var.caller.account).describe(detail.grant as GrantId);
  return { ...detail, grant_name: grant.ok ? grant.value.name : null };
}

function idOf(c: Context<RelayEnv>): string {
  return c.req.param("approval") ?? "";
}
