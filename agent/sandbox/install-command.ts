/** How this machine installs what a sandbox takes. */
import { SYSTEM_PATH } from "../platform/posix.ts";
import { findProgram } from "../platform/run-program.ts";

const PACKAGES = "bubblewrap socat ripgrep";

const MANAGERS = [
  ["apt-get", "apt install"],
  ["dnf", "dnf install"],
  ["pacman", "pacman -S"],
  ["zypper", "zypper install"],
  ["apk", "apk add"],
] as const;

export function installCommand(): string {
  const found = MANAGERS.find(([program]) => findProgram(program, { PATH: SYSTEM_PATH }));
  return `${found?.[1] ?? "apt install"} ${PACKAGES}`;
}
