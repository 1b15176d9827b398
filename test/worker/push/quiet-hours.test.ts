/** Quiet hours where the person is. */
import { quietHoursSchema } from "@matrx/shared/push-api.ts";
import { expect, it } from "vitest";
import { isQuiet } from "../../../worker/push/quiet-hours.ts";

const night = (time_zone: string) => ({ from: "22:00", to: "07:00", time_zone, approvals: false });

it.each([
  // In winter Berlin is an hour ahead of UTC, in summer two.
  ["Europe/Berlin", "2026-01-10T20:59:59Z", false],
  ["Europe/Berlin", "2026-01-10T21:00:00Z", true],
  ["Europe/Berlin", "2026-01-11T05:59:59Z", true],
  ["Europe/Berlin", "2026-01-11T06:00:00Z", false],
  ["Europe/Berlin", "2026-07-10T20:00:00Z", true],
  ["Europe/Berlin", "2026-07-11T05:30:00Z", false],
  // The night on which the clock is set back has 02:30 twice, and both are quiet.
  ["Europe/Berlin", "2026-10-25T00:30:00Z", true],
  ["Europe/Berlin", "2026-10-25T01:30:00Z", true],
  ["Asia/Kathmandu", "2026-01-10T16:14:00Z", false],
  ["Asia/Kathmandu", "2026-01-10T16:15:00Z", true],
  ["America/New_York", "2026-01-10T12:00:00Z", false],
  ["UTC", "2026-01-10T00:00:00Z", true],
])("of the night in %s at %s: %s", (zone, at, quiet) => {
  expect(isQuiet(night(zone), Date.parse(at))).toBe(quiet);
});

it("may lie within one day", () => {
  const hours = { from: "12:00", to: "13:30", time_zone: "UTC", approvals: false };
  const quiet = ["11:59", "12:00", "13:29", "13:30", "00:00"].map((time) =>
    isQuiet(hours, Date.parse(`2026-01-10T${time}:00Z`)),
  );
  expect(quiet).toEqual([false, true, true, false, false]);
});

it.each([
  { from: "22:00", to: "22:00" },
  { from: "24:00" },
  { from: "9:00" },
  { from: "22:60" },
  { time_zone: "Mars/Olympus" },
  { time_zone: "" },
  { approvals: "yes" },
  { colour: "red" },
])("are refused with %o", (wrong) => {
  expect(quietHoursSchema.safeParse({ ...night("UTC"), ...wrong }).success).toBe(false);
});
