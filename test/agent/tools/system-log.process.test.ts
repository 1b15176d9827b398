import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import type { LogSource } from "../../../agent/platform/system-log.ts";
import { failure, isAlive, Workbench } from "./workbench.ts";

/** A device with a log of its own: sources are named from its home folder. */
async function withLog(sources: (at: (name: string) => string) => readonly LogSource[]) {
  const systemLog: LogSource[] = [];
  const bench = await Workbench.open({ platform: { ...currentPlatform(), systemLog } });
  systemLog.push(...sources((name) => bench.at(name)));
  return bench;
}

function program(place: string, script: string): LogSource {
  return {
    by: "program",
    place,
    file: "/bin/sh",
    argumentsFor: (lines) => ["-c", script, "log", String(lines)],
  };
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);

describe("the system's log", () => {
  it("gives its last 50 lines, or as many as are asked for, oldest first", async () => {
    const bench = await withLog((at) => [{ by: "file", place: at("syslog") }]);
    await bench.put("syslog", `${numbered(1, 5000).join("\n")}\n`);
    const usual = await bench.call("SystemLog", {});
    expect(usual.output.split("\n")).toEqual(numbered(4951, 5000));
    expect(usual.metadata).toEqual({ source: bench.at("syslog"), lines: 50, truncated: false });
    const more = await bench.call("SystemLog", { lines: 1000 });
    expect(more.output.split("\n")).toEqual(numbered(4001, 5000));
    expect(bench.accepts("SystemLog", { lines: 1001 })).toBe(false);
  });

  it("is asked of a program first, and of the files when that is not there, fails or knows nothing", async () => {
    const bench = await withLog((at) => [
      { by: "program", place: at("none"), file: at("no-such-program"), argumentsFor: () => [] },
      program(at("none"), "echo broken >&2; exit 1"),
      program(at("none"), "true"),
      { by: "file", place: at("missing") },
      program(at("none"), 'echo "asked for $1"; echo last'),
      { by: "file", place: at("not-reached") },
    ]);
    const { output, metadata } = await bench.call("SystemLog", { lines: 7 });
    expect(output).toBe("asked for 7\nlast");
    expect(metadata?.source).toBe("/bin/sh");
  });

  it("is searched with a filter, which may not take long", async () => {
    const bench = await withLog((at) => [{ by: "file", place: at("syslog") }]);
    const lines = numbered(1, 20_000).map((line) => (line.endsWith("777") ? `${line} error` : line));
    await bench.put("syslog", `${lines.join("\n")}\n${"a".repeat(60)}b\n`);
    const { output, metadata } = await bench.call("SystemLog", { filter: "error$", lines: 3 });
    expect(output.split("\n")).toEqual([
      "[10 of the last 10000 lines match, only the last ones are shown]",
      "line 17777 error",
      "line 18777 error",
      "line 19777 error",
    ]);
    expect(metadata).toMatchObject({ looked_through: 10_000, matching: 10 });
    expect((await failure(bench.call("SystemLog", { filter: "(" }))).details).toEqual({ field: "filter" });
    expect((await failure(bench.call("SystemLog", { filter: "^(a+)+$" }))).message).toContain("took longer");
  });

  it("shows nothing that could deceive, and says what it cut", async () => {
    const bench = await withLog((at) => [{ by: "file", place: at("syslog") }]);
    await bench.put("syslog", `\u001b[31mred\u202e\tafter\n${"x".repeat(3000)}\n`);
    const { output } = await bench.call("SystemLog", {});
    expect(output.split("\n")).toEqual(["\\u001b[31mred\\u202e\tafter", `${"x".repeat(2000)} [cut]`]);
    await bench.put("syslog", `${"y".repeat(1999)}\n`.repeat(100));
    const large = await bench.call("SystemLog", { lines: 100 });
    expect(large.output.startsWith("[75 older lines are left out; ask for fewer, or give a filter]\n")).toBe(
      true,
    );
    expect(large.metadata).toMatchObject({ lines: 25, truncated: true });
  });

  it("is kept within bounds, however much a program prints", async () => {
    const bench = await withLog((at) => [program(at("none"), "seq 1 3000000")]);
    const { output, metadata } = await bench.call("SystemLog", { lines: 2 });
    expect(output).toBe("[only the end of the log was read, because it is so large]\n2999999\n3000000");
    expect(metadata).toMatchObject({ truncated: true });
  });

  it("is closed to callers whose limits do not hold its place, also when a program would print it", async () => {
    const bench = await withLog((at) => [
      program(at("log/journal"), "echo secret"),
      { by: "file", place: at("log/syslog") },
    ]);
    mkdirSync(bench.at("log"));
    writeFileSync(bench.at("log/syslog"), "from a file\n");
    const elsewhere = { allowed_paths: [bench.at("work")] };
    for (const limits of [{ policy: elsewhere }, { relayPolicy: elsewhere }]) {
      const error = await failure(bench.call("SystemLog", {}, limits));
      expect(error.code).toBe("PERMISSION_DENIED");
    }
    const grant = { ...bench.owner, paths: [bench.at("log/syslog")] };
    expect((await bench.call("SystemLog", {}, { grant })).output).toBe("from a file");
    const wide = { allowed_paths: [bench.at("log")] };
    expect((await bench.call("SystemLog", {}, { policy: wide })).output).toBe("secret");
  });

  it("that is not there is said, with what was looked at", async () => {
    const bench = await withLog((at) => [
      { by: "file", place: at("none") },
      program(at("none"), "sleep 0; exit 3"),
    ]);
    const error = await failure(bench.call("SystemLog", {}));
    expect(error).toMatchObject({ code: "NOT_FOUND" });
    expect(error.hint).toContain("Bash");
    expect(error.details?.looked_at).toHaveLength(2);
  });

  it("leaves no program behind when the call is cancelled", async () => {
    const bench = await withLog((at) => [program(at("none"), `echo $$ > ${at("pid")}; exec sleep 1000`)]);
    const cancel = new AbortController();
    const call = bench.call("SystemLog", {}, { signal: cancel.signal });
    void call.catch(() => undefined);
    const pid = () => Number(existsSync(bench.at("pid")) && readFileSync(bench.at("pid"), "utf8"));
    await expect.poll(pid).toBeGreaterThan(1);
    cancel.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow("cancelled");
    await expect.poll(() => isAlive(pid())).toBe(false);
  });

  it("of this very machine is given, or said not to be there", async () => {
    const bench = await Workbench.open();
    const answer = await bench.call("SystemLog", { lines: 3 }).catch((error: unknown) => error);
    if (answer instanceof Error) expect(answer).toMatchObject({ code: "NOT_FOUND" });
    else expect(answer).toHaveProperty("metadata.lines");
  });
});
