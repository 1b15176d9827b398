import { describe, expect, it } from "vitest";
import { mountLine, mountsBelow, originOf, parseMounts } from "../../../agent/sandbox/mount-table.ts";

/** A disk at `/`, another at `/home`, a folder of the first bound below it, and a file system over a folder with a mount. */
const TABLE = parseMounts(
  [
    "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
    "21 20 8:2 /@home /home rw shared:1 - btrfs /dev/sdb1 rw",
    "22 21 8:1 /srv/data /home/me/data rw - ext4 /dev/sda1 rw",
    "23 21 0:40 / /home/me/a/b rw - tmpfs tmpfs rw",
    "24 21 0:41 / /home/me/a rw - tmpfs tmpfs rw",
    "25 24 0:42 / /home/me/a rw - tmpfs tmpfs rw",
    "26 20 0:43 / /mnt/with\\040space rw - fuse.sshfs me@host: rw",
    "",
  ].join("\n"),
);

describe("where a path leads", () => {
  it.each([
    ["on the first disk", "/etc/hosts", "8:1", "/etc/hosts"],
    ["the root itself", "/", "8:1", "/"],
    ["in a part of the second", "/home/me/file", "8:2", "/@home/me/file"],
    ["a mount point itself", "/home", "8:2", "/@home"],
    ["in a bound folder", "/home/me/data/x", "8:1", "/srv/data/x"],
    ["beside one with a longer name", "/home/me/database", "8:2", "/@home/me/database"],
    ["what was mounted there last", "/home/me/a/file", "0:42", "/file"],
    ["and no mount that it covers", "/home/me/a/b/file", "0:42", "/b/file"],
    ["a name with a space", "/mnt/with space/x", "0:43", "/x"],
  ])("%s", (_what, path, device, root) => {
    expect(originOf(path, TABLE)).toEqual({ device, root });
  });

  it("is not known without a root", () => {
    expect(originOf("/etc", [])).toBeUndefined();
  });
});

it("finds what is mounted in a folder, and not on it", () => {
  expect(mountsBelow("/home", TABLE).map(({ at }) => at)).toEqual([
    "/home/me/data",
    "/home/me/a/b",
    "/home/me/a",
    "/home/me/a",
  ]);
});

it("writes a mount as the kernel does", () => {
  expect(mountLine("0:43", "/", "/mnt/a b\\c\n\td")).toBe("0:43 / /mnt/a\\040b\\134c\\012\\011d");
});
