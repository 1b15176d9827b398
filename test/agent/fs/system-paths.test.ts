/** What the system starts, loads or trusts: who is not the owner reads it, and changes it only where the grant names it. */
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { Admission } from "../../../agent/core/gate.ts";
import { PathClosures } from "../../../agent/fs/path-closures.ts";
import { darwin } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import type { Platform } from "../../../agent/platform/platform.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";

const SYSTEM: readonly [Platform, string, readonly string[]][] = [
  [
    linux,
    "/root",
    [
      ...["/etc", "/etc/cron.d/x", "/etc/crontab", "/etc/systemd/system/x.service", "/etc/profile.d/x.sh"],
      ...["/etc/ld.so.preload", "/etc/pam.d/sshd", "/etc/udev/rules.d/x.rules", "/etc/apt/apt.conf.d/x"],
      ...["/etc/init.d/x", "/etc/rc.local", "/etc/passwd", "/etc/ssh/sshd_config", "/etc/environment"],
      ...["/usr/bin/ls", "/usr/local/bin/ls", "/usr/lib/systemd/system/x.service", "/lib64/ld.so", "/bin/sh"],
      ...["/var/spool/cron/crontabs/root", "/boot/grub/grub.cfg", "/proc/sys/kernel/core_pattern"],
      ...["/run/systemd/system/x.service", "/var/lib/dpkg/info/bash.postinst", "/sys/kernel/uevent_helper"],
    ],
  ],
  [
    darwin,
    "/Users/me",
    [
      ...[
        "/Library/LaunchDaemons/x.plist",
        "/private/etc/pam.d/sudo",
        "/etc/periodic/daily/x",
        "/usr/local/bin/x",
      ],
      ...[
        "/private/var/at/tabs/root",
        "/System/Library/x",
        "/Applications/Mail.app/x",
        "/opt/homebrew/bin/git",
      ],
    ],
  ],
  [
    windows,
    "C:\\Users\\me",
    [
      ...["C:\\Windows\\System32\\Tasks\\x", "c:\\windows\\x.dll", "C:\\Program Files\\x\\x.exe"],
      ...[
        "C:\\Program Files (x86)\\x",
        "C:\\ProgramData\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x",
      ],
    ],
  ],
];

const OPEN: readonly [Platform, string, readonly string[]][] = [
  [linux, "/root", ["/srv/site/index.html", "/opt/app/etc/x", "/var/log/x", "/tmp/usr/x", "/root/etc/x"]],
  [darwin, "/Users/me", ["/Users/Shared/x", "/tmp/x", "/Volumes/Disk/Library/x"]],
  [windows, "C:\\Users\\me", ["D:\\Windows\\x", "C:\\work\\x"]],
];

describe("a grant for any path", () => {
  it.each(SYSTEM)("reads and does not change, on %o with the home %s: %j", (platform, home, paths) => {
    const closures = closuresOf(platform, home, {});
    expect(paths.filter((path) => closures.isClosed(path))).toEqual([]);
    expect(paths.filter((path) => !(closures.isUnchangeable(path) && closures.isFixed(path)))).toEqual([]);
    expect(() => closures.checkChange(paths[0] ?? "", "x")).toThrow("x can't be changed");
  });

  it.each(OPEN)("changes, on %o with the home %s: %j", (platform, home, paths) => {
    const closures = closuresOf(platform, home, {});
    expect(paths.filter((path) => closures.isUnchangeable(path))).toEqual([]);
  });
});

describe("what the system starts", () => {
  const isFixed = (scope: Partial<GrantScope>, path: string) =>
    closuresOf(linux, "/root", scope).isUnchangeable(path);

  it("is open to the owner, and to a grant with open secrets", () => {
    expect(isFixed({ owner: true }, "/etc/cron.d/x")).toBe(false);
    expect(isFixed({ secrets: "open" }, "/etc/cron.d/x")).toBe(false);
  });

  it("is open where the grant names it, and nowhere beside that", () => {
    const paths = ["/etc/nginx", "/srv"];
    expect(isFixed({ paths }, "/etc/nginx/nginx.conf")).toBe(false);
    expect(isFixed({ paths }, "/etc/nginx.conf")).toBe(true);
    expect(isFixed({ paths: ["/"] }, "/etc/nginx/nginx.conf")).toBe(true);
  });
});

function closuresOf(platform: Platform, home: string, scope: Partial<GrantScope>): PathClosures {
  const effects: GrantScope["effects"] = ["read", "write", "execute"];
  const grant: GrantScope = { id: makeGrantId(), owner: false, effects, ...scope };
  const { rights } = new Admission({ grant }, {}, async () => undefined);
  return new PathClosures(rights, platform, home);
}
