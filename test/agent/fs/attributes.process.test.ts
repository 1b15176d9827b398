/** What the system keeps beside a file's content stays when the content is replaced. Python is the judge. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { darwin } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { linuxSuccessor, successorByCp } from "../../../agent/platform/linux/successor.ts";
import { successorByCopy } from "../../../agent/platform/successor.ts";
import { hasOwnRights, windows, windowsSuccessor } from "../../../agent/platform/windows/windows.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../../helpers/folder.ts";
import { needsRare } from "../../helpers/parts.ts";
import { WAYS, Workbench } from "../tools/workbench.ts";

const PYTHON = `
import json, os, struct, sys
ANY = 0xffffffff
def acl(*entries): return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
files = sys.argv[2:]
if sys.argv[1] == "set":
    for file in files:
        os.setxattr(file, "user.note", b"kept \\0 bytes")
        os.setxattr(file, "system.posix_acl_access", acl((1, 6, ANY), (2, 4, 1234), (4, 4, ANY), (16, 4, ANY), (32, 0, ANY)))
elif sys.argv[1] == "default":
    for file in files:
        os.setxattr(file, "system.posix_acl_default", acl((1, 7, ANY), (2, 7, 777), (4, 5, ANY), (16, 7, ANY), (32, 0, ANY)))
print(json.dumps([{name: os.getxattr(file, name).hex() for name in os.listxattr(file)} for file in files]))
`;

/** Sets attributes of files or none (`get`), and gives all that they have then. */
function attributes(what: "set" | "default" | "get", ...files: string[]): Record<string, string>[] {
  return JSON.parse(execFileSync("python3", ["-c", PYTHON, what, ...files], { encoding: "utf8" }));
}

function triesAttributes(): boolean {
  const folder = makeFolder();
  try {
    const file = `${folder}/file`;
    writeFileSync(file, "");
    return Object.keys(attributes("set", file)[0] ?? {}).length === 2;
  } catch {
    return false;
  } finally {
    removeFolder(folder);
  }
}

const NEEDS_ATTRIBUTES = needsRare(
  triesAttributes(),
  "keeping attributes needs Linux, python3, and attributes and lists for temporary files",
);
const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe.each(WAYS)("a file with attributes and a list of rights, its folder opened %s", (_way, platform) => {
  it("keeps them through whatever changes its content", NEEDS_ATTRIBUTES, async () => {
    const bench = await Workbench.open({ platform });
    const files = await Promise.all(["a", "b", "c", "d", "e"].map((name) => bench.put(name, "old\n")));
    const before = attributes("set", ...files);
    const modes = files.map((file) => statSync(file).mode);
    await bench.call("Write", { file_path: "a", content: "new\n" });
    await bench.call("Write", { file_path: "b", content: "" });
    await bench.call("Edit", { file_path: "c", old_string: "old", new_string: "new" });
    await bench.call("ApplyPatch", { patch: patch("*** Update File: d", "-old", "+new") });
    const move = patch("*** Update File: e", "*** Move to: moved", "-old", "+new");
    await bench.call("ApplyPatch", { patch: move });
    const after = ["a", "b", "c", "d", "moved"].map((name) => bench.at(name));
    expect(after.map((file) => readFileSync(file, "utf8"))).toEqual(["new\n", "", "new\n", "new\n", "new\n"]);
    expect(attributes("get", ...after)).toEqual(before);
    expect(after.map((file) => statSync(file).mode)).toEqual(modes);
    expect(readdirSync(bench.home)).toEqual(["a", "b", "c", "d", "moved"]);
  });

  it("gets none of its folder's that it had not", NEEDS_ATTRIBUTES, async () => {
    const bench = await Workbench.open({ platform });
    const file = await bench.put("folder/f", "old\n");
    attributes("default", bench.at("folder"));
    await bench.call("Edit", { file_path: file, old_string: "old", new_string: "new" });
    await bench.call("Write", { file_path: "folder/made", content: "x" });
    const [edited, made] = attributes("get", file, bench.at("folder/made"));
    expect(edited).toEqual({});
    expect(Object.keys(made ?? {})).toEqual(["system.posix_acl_access"]);
  });
});

/** A system whose cp is in this folder, or missing. */
const withPrograms = (folder: string) => ({ ...currentPlatform(), makeSuccessor: successorByCp(folder) });

describe("where a successor cannot have all that stands beside a content", () => {
  it.each([
    ["there is no cp", []],
    ["cp knows no such option", ["#!/bin/sh\necho 'cp: unrecognized option' >&2\nexit 1\n"]],
    [
      "cp cannot copy an attribute",
      ["#!/bin/sh\necho \"cp: setting attributes for 'x': Operation not permitted\" >&2\nexit 1\n"],
    ],
  ])("the file is written in place: %s", async (_why, programs) => {
    const folder = temporaryFolder();
    for (const program of programs) writeFileSync(`${folder}/cp`, program, { mode: 0o755 });
    const bench = await Workbench.open({ platform: withPrograms(folder) });
    const file = await bench.put("f", "old content\n");
    const { ino } = statSync(file);
    const { metadata } = await bench.call("Write", { file_path: "f", content: "new\n" });
    expect(metadata).toMatchObject({ atomic: false, created: false });
    expect(statSync(file).ino).toBe(ino);
    expect(readFileSync(file, "utf8")).toBe("new\n");
    expect(readdirSync(bench.home)).toEqual(["f"]);
  });

  it("nothing is changed when there is no room for a successor", async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/cp`, "#!/bin/sh\necho 'cp: No space left on device' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const bench = await Workbench.open({ platform: withPrograms(folder) });
    await bench.put("f", "old");
    await expect(bench.call("Write", { file_path: "f", content: "new" })).rejects.toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      details: { system_code: "ENOSPC" },
    });
    expect(readFileSync(bench.at("f"), "utf8")).toBe("old");
    expect(readdirSync(bench.home)).toEqual(["f"]);
  });
});

describe("a successor by copying all of it, as on macOS and Windows", () => {
  const platform = { ...currentPlatform(), makeSuccessor: successorByCopy };

  it.each(["new\n", "", "much longer than what stood there\n"])(
    "holds only the new content: %j",
    async (content) => {
      const bench = await Workbench.open({ platform });
      const file = await bench.put("f", "the old content\n");
      utimesSync(file, 1, 1);
      const began = Math.floor(Date.now() / 1000);
      const { metadata } = await bench.call("Write", { file_path: "f", content });
      expect(metadata?.atomic).toBe(true);
      expect(readFileSync(file, "utf8")).toBe(content);
      expect(statSync(file).mtimeMs / 1000).toBeGreaterThanOrEqual(began);
      expect(readdirSync(bench.home)).toEqual(["f"]);
    },
  );

  it("is not made of a file that is large: that is written in place", async () => {
    const bench = await Workbench.open({ platform });
    truncateSync(await bench.put("f", "x"), 65 * 1024 ** 2);
    const { metadata } = await bench.call("Write", { file_path: "f", content: "small" });
    expect(metadata?.atomic).toBe(false);
    expect(readFileSync(bench.at("f"), "utf8")).toBe("small");
  });

  it("is made by each system in its own way", () => {
    expect([linux, darwin, windows].map(({ makeSuccessor }) => makeSuccessor)).toEqual([
      linuxSuccessor,
      successorByCopy,
      windowsSuccessor,
    ]);
  });

  it.each([
    [
      "C:\\a.txt NT AUTHORITY\\SYSTEM:(I)(F)\r\n         BUILTIN\\Users:(I)(RX)\r\n\r\nSuccessfully processed 1 files\r\n",
      false,
    ],
    ["C:\\a.txt BUILTIN\\Users:(RX)\r\n         NT AUTHORITY\\SYSTEM:(I)(F)\r\n", true],
    ["C:\\a (I).txt BUILTIN\\Users:(DENY)(W)\r\n         NT AUTHORITY\\SYSTEM:(I)(F)\r\n", true],
    ["C:\\a.txt BUILTIN\\Users:(I)(GR,GE)\r\n", false],
    ["C:\\a.txt: Access is denied.\r\n", true],
    ["", true],
  ])("on Windows is not made of a file with rights of its own: %j", (printed, wanted) => {
    expect(hasOwnRights(printed)).toBe(wanted);
  });
});
