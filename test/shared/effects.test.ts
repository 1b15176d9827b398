import {
  DEVICE_DOCUMENT_TOOLS,
  effectOf,
  effectOfCall,
  nearestName,
  toolNameOf,
} from "@matrx/shared/effects.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const BUILT_IN = {
  read: [
    ...["Read", "Glob", "Grep", "ListDirectory", "SystemInfo", "BashOutput", "search_files"],
    ...["DirectoryTree", "SystemLog", "ListProcesses", "FileInfo", "Download", "UploadInfo"],
    ...["TerminalList", "SystemMetrics", "NetworkConnections"],
  ],
  write: [
    ...["Write", "Edit", "ApplyPatch", "Move", "create_directory"],
    ...["Upload", "UploadAppend", "UploadCommit", "UploadAbort"],
  ],
  execute: [
    ...["Bash", "TaskStop", "StopProcess", "Delete", "delete_directory"],
    ...["OpenUrl", "OpenPath", "open_app", "Screenshot", "ConnectPort", "FetchPort"],
    ...["ClipboardRead", "ClipboardWrite"],
    ...["TerminalCreate", "TerminalClose", "TerminalAttach"],
  ],
};
const NAMES = Object.values(BUILT_IN).flat();

describe("the effect", () => {
  it.each(Object.entries(BUILT_IN))("%s is pinned for its tools", (effect, tools) => {
    expect(tools.map(effectOf)).toEqual(tools.map(() => effect));
  });

  it("of a call that only watches a terminal is read, though the tool's is not", () => {
    for (const input of [{}, { write: false }, { write: "true" }])
      expect(effectOfCall("TerminalAttach", () => input)).toBe("read");
    expect(effectOfCall("TerminalAttach", () => ({ write: true }))).toBe("execute");
    expect(effectOfCall("Bash", () => ({ write: false }))).toBe("execute");
  });

  it("of a command is read only if its input says so by the JSON value true, under that very name", () => {
    const of = (json: string) => effectOfCall("Bash", () => JSON.parse(json));
    expect(of('{"read_only":true}')).toBe("read");
    expect(of('{"read_only":false,"read_only":true}')).toBe("read");
    for (const other of [
      ...["{}", '{"read_only":"true"}', '{"read_only":1}', '{"read_only":null}', '{"read_only":[true]}'],
      ...[
        '{"read_only":false}',
        '{"read_only":true,"read_only":false}',
        '{"read_only":true,"read_only":null}',
      ],
      ...['{"Read_Only":true}', '{"readOnly":true}', '{"read-only":true}', '{" read_only":true}'],
      ...['{"__proto__":{"read_only":true}}', '{"constructor":{"prototype":{"read_only":true}}}'],
    ])
      expect(of(other), other).toBe("execute");
    expect(effectOfCall("Bash", () => Object.create({ read_only: true }))).toBe("execute");
    for (const tool of ["TerminalExecute", "TerminalCreate", "Write", "local_bash", "bash"])
      expect(
        effectOfCall(tool, () => ({ read_only: true })),
        tool,
      ).toBe(effectOf(tool));
  });

  it("of any other name is execute", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        if (!NAMES.includes(name)) expect(effectOf(name)).toBe("execute");
      }),
    );
    for (const name of ["read", "READ", " Read", "__proto__", "toString", "github__list_issues"])
      expect(effectOf(name)).toBe("execute");
  });
});

describe("a tool's name", () => {
  it.each([
    ["local_bash", "Bash"],
    ["local_read", "Read"],
    ["local_write", "Write"],
    ["local_edit", "Edit"],
    ["local_glob", "Glob"],
    ["local_grep", "Grep"],
    ["local_screenshot", "Screenshot"],
    ["local_list_directory", "ListDirectory"],
    ["local_system_info", "SystemInfo"],
    ["local_open_url", "OpenUrl"],
    ["local_open_path", "OpenPath"],
    ["local_bash_output", "BashOutput"],
    ["local_task_stop", "TaskStop"],
    ["local_create_directory", "create_directory"],
  ])("may be %s for %s (guide, AI Agent Integration)", (alias, tool) => {
    expect(toolNameOf(alias)).toBe(tool);
  });

  it("is itself else, and twice the same", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(...NAMES, "local_bash")), (name) => {
        expect(toolNameOf(toolNameOf(name))).toBe(toolNameOf(name));
      }),
    );
    expect(NAMES.map(toolNameOf)).toEqual(NAMES);
    for (const name of ["local_", "local_Bash", "LOCAL_bash", "local_rm", "toString"])
      expect(toolNameOf(name)).toBe(name);
  });
});

it("the device document's tools are built in", () => {
  expect(DEVICE_DOCUMENT_TOOLS.filter((tool) => !NAMES.includes(tool))).toEqual([]);
});

describe("the nearest name", () => {
  it.each([
    ["Raed", "Read"],
    ["bash", "Bash"],
    ["list_directory", "ListDirectory"],
    ["creat_directory", "create_directory"],
    ["SystemInformation", undefined],
    ["Frobnicate", undefined],
    ["Nope", undefined],
    ["ls", undefined],
    ["Gerp", "Grep"],
    ["Wirte", "Write"],
    ["", undefined],
  ])("to %j is %j", (wrong, near) => {
    expect(nearestName(wrong, NAMES)).toBe(near);
  });

  it("is a known one, or none", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.array(fc.string()), (wrong, known) => {
        const near = nearestName(wrong, known);
        expect(near === undefined || known.includes(near)).toBe(true);
      }),
    );
  });

  it("of a known one is that, whatever its case", () => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), (name) => {
        expect(nearestName(name.toUpperCase(), NAMES)).toBe(name);
      }),
    );
  });
});
