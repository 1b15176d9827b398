/** Frames are kept for sending again, but not without end. */
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { expect, it } from "vitest";
import { type Flight, Flights } from "../../worker/device/calls/pending.ts";

function flight(call: string, frame: string | undefined): Flight {
  const known = { call: call as CallId, grant: "grant_a" as GrantId, tool: "Read", effect: "read" as const };
  return { ...known, created: 0, deadline: 0, recipients: [], ledgered: false, missed: 0, frame };
}

it("keeps at most 8 MiB of frames, and room comes back with each answer", () => {
  const flights = new Flights();
  const frame = "x".repeat(64 * 1024);
  expect(flights.keepable(`${frame}x`)).toBeUndefined();
  for (let n = 0; n < 128; n++) flights.add(flight(`${n}`, flights.keepable(frame)));
  expect(flights.keepable("x")).toBeUndefined();
  flights.take("0");
  expect(flights.keepable(frame)).toBe(frame);
});
