/** Frames are kept for sending again, but not without end. */
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import type { PendingCall } from "../../../worker/device/ledger/call.ts";
import { PendingCalls } from "../../../worker/device/ledger/pending.ts";

function pending(call: string, frame: string): PendingCall {
  const known = { call: call as CallId, grant: "grant_a" as GrantId, tool: "Read", effect: "read" as const };
  return {
    ...{ ...known, created: 0, deadline: 0, recipients: [], missed: 0 },
    ...{ phase: "delivered", recorded: false, frame },
  };
}

function sent(pendingCalls: PendingCalls, call: string, frame: string): PendingCall {
  const one = pending(call, frame);
  pendingCalls.add(one);
  pendingCalls.sent(one);
  return one;
}

it("keeps at most 8 MiB of frames that were sent, and room comes back with each answer", () => {
  const pendingCalls = new PendingCalls();
  const frame = "x".repeat(64 * 1024);
  expect(sent(pendingCalls, "large", `${frame}x`).frame).toBeUndefined();
  for (let n = 0; n < 128; n++) expect(sent(pendingCalls, `${n}`, frame).frame).toBe(frame);
  expect(sent(pendingCalls, "one too many", "x").frame).toBeUndefined();
  const [first] = pendingCalls.all().filter(({ call }) => call === "0");
  if (first) pendingCalls.remove(first);
  expect(sent(pendingCalls, "another", frame).frame).toBe(frame);
  pendingCalls.forgetFrames();
  expect(pendingCalls.all().every((one) => one.frame === undefined)).toBe(true);
  expect(sent(pendingCalls, "later", frame).frame).toBe(frame);
});
