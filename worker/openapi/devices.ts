/** The devices of an account, their policy, and the links. */
import {
  createdDeviceSchema,
  deviceListSchema,
  deviceViewSchema,
  newDeviceSchema,
  renamedDeviceSchema,
} from "@matrx/shared/api.ts";
import { switched } from "@matrx/shared/openapi/call-parts.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import { policySchema, policySetSchema } from "@matrx/shared/policy.ts";
import { SESSION_HEADER } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { DEVICE, DEVICE_VIEW_EXAMPLE, PATH } from "./parts.ts";

const POLICY = { allowed_tools: ["Read", "ListDirectory"], allowed_paths: ["/home/ann"] };
const DIALLED = { device: { ...PATH.device, description: "The device that is connecting", required: true } };

export const deviceOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/devices",
    id: "listDevices",
    tag: "Devices",
    summary: "List devices",
    description: "With each device's state, when it was last seen, and when a real tool last answered.",
    access: "caller",
    answers: {
      200: {
        description: "The devices that the credential may use",
        schema: deviceListSchema,
        example: { devices: [DEVICE_VIEW_EXAMPLE] },
      },
    },
  },
  {
    method: "POST",
    path: "/v1/devices",
    id: "createDevice",
    tag: "Devices",
    summary: "Add a bare device",
    description:
      "For programs that implement only the device document; machines with our agent are paired instead. The token is shown only once.",
    access: "person",
    body: { schema: newDeviceSchema, example: { name: "thermostat" } },
    answers: {
      201: {
        description: "The device and its token",
        schema: createdDeviceSchema,
        example: {
          device: DEVICE_VIEW_EXAMPLE,
          token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
          expires: "2026-04-01T09:00:00.000Z",
        },
      },
    },
    errors: ["CONFLICT"],
  },
  {
    method: "GET",
    path: "/v1/devices/{device}",
    id: "getDevice",
    tag: "Devices",
    summary: "One device",
    access: "caller",
    answers: {
      200: { description: "The device", schema: deviceViewSchema, example: DEVICE_VIEW_EXAMPLE },
    },
  },
  {
    method: "PATCH",
    path: "/v1/devices/{device}",
    id: "renameDevice",
    tag: "Devices",
    summary: "Rename a device",
    description: "Its id stays the same.",
    access: "person",
    body: { schema: renamedDeviceSchema, example: { name: "laptop" } },
    answers: {
      200: { description: "The device", schema: deviceViewSchema, example: DEVICE_VIEW_EXAMPLE },
    },
  },
  {
    method: "DELETE",
    path: "/v1/devices/{device}",
    id: "removeDevice",
    tag: "Devices",
    summary: "Remove a device",
    description: "Its key or token stops working. It must be paired again to come back.",
    access: "person",
    answers: { 204: { description: "Removed" } },
  },
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
  },
  {
    method: "PUT",
    path: "/v1/devices/{device}/policy",
    id: "setPolicy",
    tag: "Devices",
    summary: "Set the device's policy",
    description: "Replaces the whole policy. The device's own file also applies; the stricter one wins.",
    access: "person",
    body: { schema: policySchema, example: POLICY, optional: true },
    answers: {
      200: { description: "The policy as it is now", schema: policySetSchema, example: POLICY },
    },
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/ws",
    id: "openCallerLink",
    tag: "Links",
    summary: "Caller link (WebSocket)",
    description:
      "A request without `Upgrade: websocket` gets 400. Browsers authenticate with the subprotocols `matrx.v1, bearer.TOKEN`, or with a ticket.",
    access: "caller",
    query: {
      session: { schema: z.string(), description: "Continue this session" },
      ticket: { schema: z.string(), description: "A one-use ticket, instead of another credential" },
    },
    answers: {
      101: {
        ...switched("caller link"),
        headers: {
          ...switched("caller link").headers,
          [SESSION_HEADER]: { schema: z.string(), description: "The session", required: true },
        },
      },
    },
    errors: ["INVALID_MESSAGE", "INVALID_PARAMETERS", "RATE_LIMITED"],
  },
  ...(["/v1/device/ws", "/ws"] as const).map(
    (path): Operation => ({
      method: "GET",
      path,
      id: path === "/ws" ? "openDeviceLinkAtRoot" : "openDeviceLink",
      tag: "Links",
      summary: path === "/ws" ? "Device link, at the root" : "Device link (WebSocket)",
      description: `Requests without \`Upgrade: websocket\` get 400. Example: \`${path}?device=${DEVICE}\`.`,
      access: "device",
      query: DIALLED,
      answers: { 101: switched("device link") },
      errors: ["INVALID_MESSAGE", "INVALID_PARAMETERS", "UNKNOWN_DEVICE", "UNAVAILABLE", "RATE_LIMITED"],
    }),
  ),
];
