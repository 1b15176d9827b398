/** What an owner is told of mounted servers that changed. */
import { expect, it } from "vitest";
import type { Report } from "../../../agent/events/report.ts";
import { MountChanges } from "../../../agent/monitors/mount-changed.ts";

function changes(left: string[], servers: string[]) {
  const told: Report[] = [];
  const hub = { emit: (report: Report) => void told.push(report) as never, openKeys: () => left };
  return { told, of: new MountChanges(hub, servers) };
}

it("a server that changes again and again is told of once, and once that it is open", () => {
  const { told, of } = changes([], ["notes"]);
  of.note("notes", undefined);
  for (let turn = 0; turn < 5; turn++) of.note("notes", "tools of it have changed");
  of.note("notes", undefined);
  of.note("notes", undefined);
  expect(told).toMatchObject([
    {
      type: "mount_changed",
      key: "notes",
      severity: "warning",
      data: { hint: expect.stringContaining("matrx mounts allow notes") },
    },
    { type: "mount_changed", key: "notes", resolved: true },
  ]);
});

it("a server that is no longer mounted is no longer an open matter", () => {
  const { told } = changes(["gone", "notes"], ["notes"]);
  expect(told).toMatchObject([{ key: "gone", resolved: true }]);
});
