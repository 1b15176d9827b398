/** Stopping all that AI grants do, and cancelling calls on all devices; person sessions only. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import {
  cancelCallsSchema,
  cancelledCallsSchema,
  newPauseSchema,
  type PauseView,
  pauseViewSchema,
} from "@matrx/shared/pause-api.ts";
import type * as z from "zod";
import { CALLER_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { logWarning } from "../log.ts";
import { unwrap } from "../outcome.ts";
import { reachableDevices } from "../reach.ts";
import { unknownDeviceError } from "../refusals.ts";
import type { RelayRoute } from "../route.ts";

const PAUSE: PauseView = {
  paused: true,
  changed: "2026-02-12T10:30:00.000Z",
  changed_by: "Firefox on Linux",
  devices: 2,
  devices_told: 2,
};

export const pauseRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/pause",
    id: "getPause",
    tag: "Account",
    summary: "Whether AI grants are paused",
    access: "person",
    answers: { 200: { description: "The account's pause", schema: pauseViewSchema, example: PAUSE } },
    answer: async (c) => {
      const { caller } = c.var;
      return c.json(unwrap(await c.env.ACCOUNT.getByName(caller.account).readPause(caller.grant)));
    },
  },
  {
    method: "POST",
    path: "/v1/pause",
    id: "setPause",
    tag: "Account",
    summary: "Stop everything that AI grants do, or let them act again",
    description:
      "A pause ends their calls, sessions and jobs on all devices, drops what waits for approval, and refuses what they ask for from then on. Their connections stay open. A device that can't be reached is told later. Your own sessions and script tokens go on.",
    access: "person",
    body: { schema: newPauseSchema, example: { paused: true } },
    answers: { 200: { description: "The pause as it is now", schema: pauseViewSchema, example: PAUSE } },
    answer: async (c) => {
      const { caller } = c.var;
      const { paused } = await readBody(c.req.raw, CALLER_BODY, newPauseSchema);
      return c.json(unwrap(await c.env.ACCOUNT.getByName(caller.account).setPaused(caller.grant, paused)));
    },
  },
  {
    method: "POST",
    path: "/v1/calls/cancel",
    id: "cancelCalls",
    tag: "Calls",
    summary: "Cancel all calls",
    description:
      "Of every caller, on all devices, or only on one or of one grant. Each gets its one answer: `CANCELLED`, or its result if it had already ended.",
    access: "person",
    body: { schema: cancelCallsSchema, example: { device: DEVICE }, optional: true },
    answers: {
      200: {
        description: "The devices were told; each call's record shows what became of it",
        schema: cancelledCallsSchema,
        example: { cancelled: 3, devices: 1, unreachable: [] },
      },
    },
    errors: ["NOT_FOUND", "UNKNOWN_DEVICE"],
    answer: async (c) => {
      const { caller } = c.var;
      const { device, grant } = await readBody(c.req.raw, CALLER_BODY, cancelCallsSchema);
      const account = c.env.ACCOUNT.getByName(caller.account);
      if (grant !== undefined) unwrap(await account.readToken(caller.grant, grant as GrantId));
      const own = (await reachableDevices(c.env, caller)).filter(({ sharedBy }) => sharedBy === undefined);
      const ids = own.map(({ id }) => id).filter((id) => device === undefined || id === device);
      if (device !== undefined && ids.length === 0) throw unknownDeviceError(device);
      return c.json(await cancelOn(c.env, ids, caller.account, grant as GrantId | undefined));
    },
  },
];

async function cancelOn(
  env: Env,
  ids: readonly DeviceId[],
  account: string,
  grant: GrantId | undefined,
): Promise<z.infer<typeof cancelledCallsSchema>> {
  const counts = await Promise.all(
    ids.map((id) =>
      env.DEVICE.getByName(id)
        .cancelCalls(account, grant)
        .catch((error: unknown) => logWarning(`device ${id} could not cancel its calls`, error)),
    ),
  );
  return {
    cancelled: counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    devices: ids.length,
    unreachable: ids.filter((_, index) => counts[index] === undefined),
  };
}
