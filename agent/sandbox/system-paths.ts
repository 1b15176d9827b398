/** What programs need to run on Linux: the system's own files, and the folders of tools on the PATH. */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isBelow, isIn } from "./paths.ts";

/** Folders of programs and libraries; links on systems that keep them all in `/usr`. */
const TOP_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Large folders of programs. */
const FOLDERS = ["/usr", "/nix/store", "/gnu/store"];
/** Settings without secrets that programs read. Each mount makes every command start later by a fifth of a millisecond. */
const SETTINGS =
  /^(?:alternatives|crypto-policies|fonts|group|hosts|java.*|ld\.so\.cache|localtime|nsswitch\.conf|openssl|os-release|passwd|pki|ssl)$/;

export interface SystemPaths {
  readonly folders: readonly string[];
  /** Links that lead into them, such as `/bin` or `/etc/localtime`, and where they lead. */
  readonly links: readonly (readonly [link: string, target: string])[];
  /** In `/proc`: to be bound read-only, and to be hidden. Other users than root may not change or read them anyway. */
  readonly kernelSettings: readonly string[];
  readonly kernelMemory: readonly string[];
}

/**
 * What a fresh `/proc` still shares with the machine. Its files belong to root, so root without any capability may write
 * `/proc/sys/kernel/core_pattern`, which names a program that the kernel runs outside.
 */
const KERNEL_SETTINGS = "acpi asound bus driver fs irq mtrr pressure scsi sys sysrq-trigger tty";
const KERNEL_MEMORY =
  "kallsyms kcore key-users keys kmsg kpagecgroup kpagecount kpageflags iomem ioports latency_stats pagetypeinfo " +
  "sched_debug slabinfo timer_list vmallocinfo";

let known: SystemPaths | undefined;

/** Looked up once: an upgrade of the system does not change them. */
export function systemPaths(): SystemPaths {
  known ??= lookUp();
  return known;
}

function lookUp(): SystemPaths {
  const settings = readdirSync("/etc").filter((name) => SETTINGS.test(name));
  const present = [...TOP_FOLDERS.filter(existsSync), ...settings.map((name) => `/etc/${name}`)];
  const isRoot = process.geteuid?.() === 0;
  return {
    folders: [...FOLDERS.filter(existsSync), ...present.filter((entry) => !isLinkIntoSystem(entry))],
    links: present.filter(isLinkIntoSystem).map((link) => [link, readlinkSync(link)]),
    kernelSettings: isRoot ? inProc(KERNEL_SETTINGS) : [],
    kernelMemory: isRoot ? inProc(KERNEL_MEMORY) : [],
  };
}

function isLinkIntoSystem(entry: string): boolean {
  return (
    lstatSync(entry).isSymbolicLink() && FOLDERS.some((folder) => isIn(realpathSync.native(entry), folder))
  );
}

function inProc(names: string): string[] {
  return names
    .split(" ")
    .map((name) => `/proc/${name}`)
    .filter(existsSync);
}

/**
 * The folders of tools that the PATH names, such as a Node under `/opt`: `bin` itself, or the whole installation above it.
 * Never a home folder, nor one that contains one of `kept`.
 */
export function toolFolders(searchPath: string, kept: readonly string[]): string[] {
  const folders = searchPath.split(":").flatMap((entry) => {
    const bin = path.posix.isAbsolute(entry) ? realFolder(entry) : undefined;
    if (bin === undefined || isSystem(bin)) return [];
    const above = path.posix.dirname(bin);
    const isInstallation =
      path.posix.basename(bin) === "bin" &&
      ["lib", "libexec", "lib64"].some((name) => realFolder(path.posix.join(above, name)) !== undefined);
    const mayBind = (folder: string) => folder !== "/" && !kept.some((one) => isIn(one, folder));
    return [...(isInstallation ? [above] : []), bin].filter(mayBind).slice(0, 1);
  });
  return [...new Set(folders)];
}

function isSystem(folder: string): boolean {
  return [...FOLDERS, ...TOP_FOLDERS].some((one) => isIn(folder, one)) || isBelow(folder, "/proc");
}

function realFolder(folder: string): string | undefined {
  try {
    const real = realpathSync.native(folder);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
