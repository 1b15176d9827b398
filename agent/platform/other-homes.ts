/** Home folders of other users: an agent that may read everything could read what Matrx keeps there. */
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/** More are not looked at. */
const MOST = 500;

/** On Linux, root's alone: other users cannot read each other's private files. */
export function linuxOtherHomes(): readonly string[] {
  if (process.geteuid?.() !== 0) return [];
  try {
    return homesIn(readFileSync("/etc/passwd", "utf8")).filter((home) => home !== homedir());
  } catch {
    return [];
  }
}

/** The homes that `/etc/passwd` names; those of the system's own services are folders of the system. */
export function homesIn(passwd: string): string[] {
  const homes = passwd.split("\n").map((line) => line.split(":")[5] ?? "");
  return [...new Set(homes.filter((home) => home.startsWith("/") && home !== "/"))].slice(0, MOST);
}

/** As on Linux. */
export function darwinOtherHomes(): readonly string[] {
  return process.geteuid?.() === 0 ? [...siblingsIn("/Users"), "/var/root"] : [];
}

/** An administrator reads all of them, and the system does not say who is one. */
export function windowsOtherHomes(): readonly string[] {
  return siblingsIn(path.dirname(homedir()));
}

function siblingsIn(folder: string): string[] {
  try {
    const homes = readdirSync(folder).map((name) => path.join(folder, name));
    return homes.filter((home) => home !== homedir()).slice(0, MOST);
  } catch {
    return [];
  }
}

/** Whether a home is a person's; those of services are folders of the system. */
export function isPersonal(home: string): boolean {
  return /^\/(?:home|Users)\/|^\/(?:var\/)?root$|^[a-z]:\\/i.test(home);
}
