/** Drives that fill up and are emptied again. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Conditions } from "../../../agent/monitors/condition.ts";
import { DiskWatch, watchDisks } from "../../../agent/monitors/low-disk-space.ts";
import { parseMount } from "../../../agent/platform/darwin/darwin.ts";
import type { DiskRoom } from "../../../agent/platform/disk-room.ts";
import { DriveUses } from "../../../agent/platform/drive-uses.ts";
import { linuxDrives, parseMounts } from "../../../agent/platform/linux/mounts.ts";
import { parseDeviceIds } from "../../../agent/platform/windows/windows.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { heardParts } from "./parts.ts";

const GiB = 1024 ** 3;
const use = (percent: number, drive = "/") => ({
  drive,
  freeBytes: percent * 5.12 * GiB,
  totalBytes: 512 * GiB,
  usedBytes: (100 - percent) * 5.12 * GiB,
});

function watch(left: string[] = []) {
  const parts = heardParts();
  const disks = new DiskWatch(new Conditions("low_disk_space", parts.emit, left), 10);
  const look = (...percents: number[]) => {
    for (const percent of percents) disks.look({ uses: [use(percent)], silent: [] });
  };
  return { ...parts, disks, look };
}

test("the event is the device document's", () => {
  const { disks, reports } = watch();
  disks.look({ uses: [{ ...use(0, "C:"), freeBytes: 5.2 * GiB }], silent: [] });
  expect(reports).toEqual([
    {
      type: "low_disk_space",
      key: "C:",
      severity: "warning",
      data: { drive: "C:", free_gb: 5.2, total_gb: 512, percentage_free: 1 },
    },
  ]);
});

test("a drive at the limit does not come and go: below 10 % it begins, from 12 % on it is over", () => {
  const { look, reports } = watch();
  look(50, 10, 9.99, 10.1, 9, 11.9, 9);
  expect(reports).toHaveLength(1);
  look(12, 11, 13);
  expect(reports).toHaveLength(2);
  expect(reports[1]).toMatchObject({ key: "/", resolved: true, severity: "info" });
  look(9);
  expect(reports).toHaveLength(3);
});

test("it is told again when it becomes critical, not when it gets a little better", () => {
  const { look, reports } = watch();
  look(5, 0.9, 3, 0.5);
  expect(reports.map(({ severity }) => severity)).toEqual(["warning", "critical"]);
});

test("a drive that is taken out is over; one that does not answer is not", () => {
  const { disks, reports } = watch();
  disks.look({ uses: [use(1, "/usb"), use(1, "/slow")], silent: [] });
  disks.look({ uses: [], silent: ["/slow"] });
  expect(reports.slice(2)).toMatchObject([{ key: "/usb", resolved: true, data: { gone: true } }]);
});

test("what an earlier run reported is ended, or told again if it holds", () => {
  const better = watch(["/"]);
  better.look(30, 30);
  expect(better.reports).toMatchObject([{ key: "/", resolved: true }]);
  const same = watch(["/"]);
  same.look(3);
  expect(same.reports).toMatchObject([{ key: "/", severity: "warning" }]);
});

test("a drive that hangs is waited for once, and holds up no other; many that hang are not asked any more", async () => {
  const asked: string[] = [];
  const answers = Promise.withResolvers<DiskRoom>();
  const room = { freeBytes: 1, totalBytes: 2, usedBytes: 1 };
  const uses = new DriveUses({
    list: async () => ["/dead", "/dead2", "/fine"].map((path) => ({ name: path, path })),
    ask: (path) => {
      asked.push(path);
      return path === "/dead" ? answers.promise : Promise.resolve(room);
    },
    answerWithinMs: 20,
  });
  const first = await uses.read();
  expect(first).toMatchObject({ uses: [{ drive: "/dead2" }, { drive: "/fine" }], silent: ["/dead"] });
  await uses.read();
  expect(asked.filter((path) => path === "/dead")).toHaveLength(1);
  answers.resolve(room);
  await answers.promise;
  expect((await uses.read()).silent).toEqual([]);
});

test("/proc/self/mounts of a machine with everything", () => {
  const text = String.raw`sysfs /sys sysfs rw,nosuid 0 0
/dev/nvme0n1p2 / ext4 rw,relatime,errors=remount-ro 0 0
/dev/nvme0n1p2 /var/lib/docker/volumes/x ext4 rw 0 0
/dev/nvme0n1p1 /boot/efi vfat rw 0 0
/dev/sdb1 /media/ann/My\040Disk exfat rw 0 0
/dev/loop3 /snap/core/1 squashfs ro 0 0
/dev/sr0 /media/cd iso9660 ro 0 0
/dev/sdc1 /old ext3 ro,relatime 0 0
tmpfs /run tmpfs rw 0 0
tmpfs /tmp tmpfs rw 0 0
tank /tank zfs rw 0 0
tank/home /tank/home zfs rw 0 0
nas:/x /mnt/nas nfs4 rw 0 0
//nas/y /mnt/y cifs rw 0 0
ann@far: /mnt/far fuse.sshfs rw 0 0
overlay /var/lib/docker/overlay2/a/merged overlay rw 0 0
`;
  expect(parseMounts(text).map(({ path }) => path)).toEqual([
    "/",
    "/boot/efi",
    "/media/ann/My Disk",
    "/tmp",
    "/tank",
  ]);
  expect(parseMounts("overlay / overlay rw 0 0\n")).toEqual([{ name: "/", path: "/" }]);
});

test("`mount` of macOS, and drives of Windows", () => {
  const text = `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s6 on /System/Volumes/VM (apfs, local, noexec, journaled, noatime, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect)
/dev/disk5s1 on /Volumes/My (old) Disk (hfs, local, journaled)
//ann@nas/x on /Volumes/x (smbfs, nodev, nosuid, mounted by ann)
`;
  expect(parseMount(text)).toEqual([
    { name: "/", path: "/System/Volumes/Data" },
    { name: "/Volumes/My (old) Disk", path: "/Volumes/My (old) Disk" },
  ]);
  expect(parseDeviceIds("C:\r\nD:\r\n\r\n")).toEqual([
    { name: "C:", path: "C:\\" },
    { name: "D:", path: "D:\\" },
  ]);
});

test("a real drive: it is filled, told, emptied, and told to be over", NEEDS_ROOT, async () => {
  const mount = mountDrive();
  const list = async () => (await linuxDrives()).filter(({ path }) => path === mount);
  expect(await list()).toHaveLength(1);
  const parts = heardParts();
  // Seconds below what a configuration may say: this one looks on and on.
  const monitor = watchDisks(new DriveUses({ list }), { percentage_free: 10, every_seconds: 0.02 }, parts);
  onTestFinished(() => monitor.close());
  writeFileSync(join(mount, "big"), Buffer.alloc(15 * 1024 * 1024));
  expect(await parts.next()).toMatchObject({ key: mount, severity: "warning", data: { drive: mount } });
  rmSync(join(mount, "big"));
  expect(await parts.next()).toMatchObject({
    ...{ key: mount, resolved: true },
    data: { percentage_free: 100, total_gb: 0.016 },
  });
});
