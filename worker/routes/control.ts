/** An owner's settings for a device, and commands to its program. */
import { commandedSchema, newCommandSchema } from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { policySchema, policySetSchema } from "@matrx/shared/policy.ts";
import { type Explanation, explainWishSchema, explanationSchema } from "@matrx/shared/policy-explain.ts";
import type * as z from "zod";
import { CALLER_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import type { RelayRoute } from "../route.ts";

const POLICY = { allowed_tools: ["Read", "ListDirectory"], allowed_paths: ["/home/ann"] };

const EXPLAINED: Explanation = {
  tool: "Bash",
  effect: "execute",
  decision: "asked",
  sandbox: true,
  rules: [
    { by: "grant", field: "effects", entry: "execute", says: "allows", decides: false },
    { by: "grant", field: "owner", says: "confines", decides: false },
    { by: "grant", field: "ask", entry: '{"effects":["write","execute"]}', says: "asks", decides: true },
  ],
  notes: ["The device checks paths, its own policy.json and whether its sandbox works when the call is made"],
};

/** Smaller than other bodies: a policy goes to the device with each call. */
/** A body that got lost on its way must not lift all limits. */
const POLICY_BODY = { ...CALLER_BODY, bytes: LIMITS.policyBytes, isRequired: true };

export const controlRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/policy",
    id: "getPolicy",
    tag: "Devices",
    summary: "The device's policy at the relay",
    description: "Only for the owner: limited or read-only tokens are refused.",
    access: "caller",
    answers: {
      200: {
        description: "Omitted settings impose no limit at the relay",
        schema: policySchema,
        example: POLICY,
      },
    },
    answer: async (c) => {
      const { caller, device } = c.var;
      return c.json(unwrap(await device.policy(caller)));
    },
  },
  {
    method: "PUT",
    path: "/v1/devices/{device}/policy",
    id: "setPolicy",
    tag: "Devices",
    summary: "Set the device's policy",
    description: "Replaces the whole policy. The device's own file also applies; the stricter one wins.",
    access: "person",
    body: { schema: policySchema, example: POLICY },
    answers: {
      200: { description: "The policy as it is now", schema: policySetSchema, example: POLICY },
    },
    answer: async (c) => {
      const { caller, device } = c.var;
      unwrap(await device.viewFor(caller));
      const policy = await readBody(c.req.raw, POLICY_BODY, policySchema);
      const warnings = unwrap(await device.setPolicy(caller, policy));
      return c.json({ ...policy, ...(warnings.length > 0 && { warnings }) });
    },
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/policy/explain",
    id: "explainPolicy",
    tag: "Devices",
    summary: "Explain what would become of a call",
    description:
      "Names each rule of grant and policy that concerns the call, and the one that decides. Nothing is called. A token is told about its own grant; a person may name another in `grant`.",
    access: "caller",
    body: { schema: explainWishSchema, example: { tool: "Bash", input: { command: "git push" } } },
    answers: {
      200: {
        description: "The decision as far as the relay knows it",
        schema: explanationSchema,
        example: EXPLAINED,
      },
    },
    errors: ["RATE_LIMITED"],
    answer: async (c) => {
      const { caller, device } = c.var;
      const wish = await readBody(c.req.raw, CALLER_BODY, explainWishSchema);
      const isOther = wish.grant !== undefined && wish.grant !== caller.grant;
      if (isOther) unwrap(await c.env.ACCOUNT.getByName(caller.account).requirePerson(caller.grant));
      return c.json(unwrap(await device.explain(caller, wish)));
    },
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/commands",
    id: "sendCommand",
    tag: "Devices",
    summary: "Send a command to the device's program",
    access: "person",
    body: { schema: newCommandSchema, example: { command: "restart_client", reason: "Update available" } },
    answers: {
      202: {
        description:
          "Delivered to the device's connection; the device's state shows whether the program followed it.",
        schema: commandedSchema,
        example: { device: DEVICE, command: "restart_client" },
      },
    },
    errors: ["DEVICE_OFFLINE", "RATE_LIMITED"],
    answer: async (c) => {
      const { caller, device } = c.var;
      const { command, reason } = await readBody(c.req.raw, CALLER_BODY, newCommandSchema);
      unwrap(await device.command(caller, command, reason));
      const commanded = { device: c.req.param("device") ?? "", command };
      return c.json(commanded satisfies z.infer<typeof commandedSchema>, 202);
    },
  },
];
