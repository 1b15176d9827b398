/** Frames are kept for sending again, but not without end. */
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { type PendingCall, PendingCalls } from "../../worker/device/calls/pending.ts";

function pending(call: string, frame: string | undefined): PendingCall {
  const known = { call: call as CallId, grant: "grant_a" as GrantId, tool: "Read", effect: "read" as const };
  return { ...known, created: 0, deadline: 0, recipients: [], ledgered: false, missed: 0, frame };
}

it("keeps at most 8 MiB of frames, and room comes back with each answer", () => {
  const pendingCalls = new PendingCalls();
  const frame = "x".repeat(64 * 1024);
  expect(pendingCalls.keepable(`${frame}x`)).toBeUndefined();
  for (let n = 0; n < 128; n++) pendingCalls.add(pending(`${n}`, pendingCalls.keepable(frame)));
  expect(pendingCalls.keepable("x")).toBeUndefined();
  pendingCalls.take("0");
  expect(pendingCalls.keepable(frame)).toBe(frame);
});
