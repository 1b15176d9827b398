/** Where a system keeps its log, and how to read its last lines. */

/** `place` is asked of the path limits: who may not read there may not read the log by a program either. */
export type LogSource =
  | { readonly by: "file"; readonly place: string }
  | {
      readonly by: "program";
      readonly place: string;
      readonly file: string;
      /** One of these folders has entries if there is something to print; absent: there always is. */
      readonly kept?: readonly string[];
      /** Arguments that make it print at least its last `lines` lines, oldest first, where there are as many. */
      argumentsFor(lines: number): string[];
    };

/** systemd's journal, else the files of syslog. */
export const linuxLog: readonly LogSource[] = [
  {
    by: "program",
    place: "/var/log/journal",
    file: "journalctl",
    kept: ["/var/log/journal", "/run/log/journal"],
    argumentsFor: (lines) => ["--no-pager", "--quiet", "--output=short-iso", `--lines=${lines}`],
  },
  { by: "file", place: "/var/log/syslog" },
  { by: "file", place: "/var/log/messages" },
];

/** `log show` counts no lines, so it is asked for the last while. Written from documents, not run. */
export const darwinLog: readonly LogSource[] = [
  {
    by: "program",
    place: "/private/var/db/diagnostics",
    file: "/usr/bin/log",
    argumentsFor: (lines) => ["show", "--style", "syslog", "--last", lines > 1000 ? "1h" : "10m"],
  },
  { by: "file", place: "/private/var/log/system.log" },
];
