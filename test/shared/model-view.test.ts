/** What a model is given of what a device announced. */
import { describe, expect, it } from "vitest";
import { effectOf } from "../../shared/effects.ts";
import { modelView, offeredTools, type WantedView } from "../../shared/model-view.ts";
import type { ToolDescription } from "../../shared/tool.ts";
import { FAMILIES } from "../../shared/tool-families.ts";

function tool(name: string, more: Partial<ToolDescription> = {}): ToolDescription {
  const input_schema = { type: "object", properties: {} };
  return { name, description: `${name} does it.`, effect: effectOf(name), input_schema, ...more };
}

const all = () => true;

function namesOf(tools: readonly ToolDescription[], mayCall: (tool: string) => boolean = all): string[] {
  return modelView(tools, mayCall).map(({ name }) => name);
}

describe("the tools", () => {
  it("are those that may be called and can work", () => {
    const tools = [tool("Read"), tool("Screenshot", { unavailable: "No display" }), tool("Write")];
    expect(namesOf(tools)).toEqual(["Read", "Write"]);
    expect(namesOf(tools, (name) => name !== "Write")).toEqual(["Read"]);
  });

  it("leave out what another that is offered does as well", () => {
    const device = ["create_directory", "delete_directory", "open_app", "search_files"].map((name) =>
      tool(name),
    );
    expect(namesOf(device)).toHaveLength(4);
    expect(namesOf([...device, ...["Bash", "Delete", "Glob"].map((name) => tool(name))])).toEqual([
      ...["open_app", "Bash", "Delete", "Glob"],
    ]);
    expect(namesOf([...device, tool("Bash"), tool("Glob")], (name) => effectOf(name) !== "execute")).toEqual([
      ...["create_directory", "Glob"],
    ]);
    expect(namesOf([...device, tool("Glob", { unavailable: "no" })])).toContain("search_files");
  });

  it("leave out what is of no use without another that is not offered", () => {
    const terminals = ["TerminalExecute", "TerminalInput"];
    const tools = ["Bash", "BashOutput", "TaskStop", "ListProcesses", "StopProcess", ...terminals].map(
      (name) => tool(name),
    );
    expect(namesOf(tools)).toHaveLength(7);
    for (const denied of ["Bash", "TerminalExecute"])
      expect(namesOf(tools, (name) => name !== denied)).not.toContain("TerminalInput");
    expect(namesOf(tools, (name) => effectOf(name) === "read")).toEqual(["ListProcesses"]);
    expect(namesOf(tools, (name) => name !== "ListProcesses")).toEqual([
      "Bash",
      "BashOutput",
      "TaskStop",
      ...terminals,
    ]);
  });

  it("are named once, in the order in which they were announced", () => {
    expect(namesOf([tool("Write"), tool("Read"), tool("Write")])).toEqual(["Write", "Read"]);
  });
});

describe("texts", () => {
  const schema = {
    type: "object",
    properties: {
      bash_id: { type: "string", description: "As `Bash` gave it; `Basher` and Bash are words" },
    },
  };
  const description = "Reads what `Bash` wrote. `ls` is none of ours; nor is Bash.";

  it("of built-in tools name others as the model knows them, and no word besides", () => {
    const [seen] = modelView([tool("BashOutput", { description, input_schema: schema }), tool("Bash")], all);
    expect(seen).toMatchObject({
      model_name: "local_bash_output",
      description: "Reads what local_bash wrote. `ls` is none of ours; nor is Bash.",
      input_schema: {
        properties: { bash_id: { description: "As local_bash gave it; `Basher` and Bash are words" } },
      },
    });
  });

  it("use the name that a tool really has, where its usual one is taken", () => {
    const [seen, , bash] = modelView(
      [tool("BashOutput", { description: "`Bash`" }), tool("local_bash"), tool("Bash")],
      all,
    );
    expect(seen?.description).toBe(bash?.model_name);
    expect(seen?.description).toMatch(/^local_bash_[0-9a-f]{8}$/);
  });

  it("of others' tools are left as they are", () => {
    const foreign = {
      type: "object",
      properties: { q: { type: "string", minLength: 1, description: "`Bash`" } },
    };
    const [seen] = modelView(
      [tool("notes__find", { description, input_schema: foreign }), tool("Bash")],
      all,
    );
    expect(seen).toMatchObject({ model_name: "notes__find", description, input_schema: foreign });
  });
});

describe("the input", () => {
  const properties = {
    old: { type: "string", minLength: 1, maxLength: 9, pattern: "^x", description: "Old" },
    all: { type: "boolean", default: false },
    format: { type: "string", enum: ["a", "b"] },
    edits: { type: "array", items: { type: "object", properties: { a: {} } } },
  };
  const input_schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...{ type: "object", properties, required: ["all"], additionalProperties: false },
  };

  it("lists what matters, without bounds that the device checks, and requires what a model must give", () => {
    const model = { omit: ["edits"], require: ["old", "all"] };
    const [seen] = modelView([tool("Edit", { input_schema, model })], all);
    expect(seen?.input_schema).toEqual({
      type: "object",
      properties: {
        old: { type: "string", description: "Old" },
        all: { type: "boolean", default: false },
        format: { type: "string", enum: ["a", "b"] },
      },
      required: ["old", "all"],
    });
  });

  it("is whole where the device says nothing of models, as agents of before do", () => {
    const [seen] = modelView([tool("Edit", { input_schema })], all);
    expect(Object.keys((seen?.input_schema.properties ?? {}) as object)).toEqual(Object.keys(properties));
  });
});

describe("families", () => {
  const names = [
    "Read",
    "create_directory",
    "Bash",
    "TerminalExecute",
    "SystemInfo",
    "SystemLog",
    "github__issues",
  ];
  const device = names.map((name) => tool(name));
  const offered = (view?: WantedView, granted?: string[]) => {
    const { tools, others } = offeredTools(device, all, granted ? { tool_families: granted } : {}, view);
    return [tools.map(({ name }) => name), others];
  };

  it("are the usual ones, those of the grant, or those of the connection, and those it wanted besides", () => {
    expect(offered()).toEqual([
      ["Read", "Bash", "SystemInfo", "github__issues"],
      ["terminals", "system"],
    ]);
    expect(offered({}, ["mounted"])[0]).toEqual(["SystemInfo", "github__issues"]);
    expect(offered({ families: ["system"] }, ["mounted"])[0]).toEqual(["SystemInfo", "SystemLog"]);
    expect(offered({ more: ["system"] }, ["mounted"])[0]).toEqual([
      "SystemInfo",
      "SystemLog",
      "github__issues",
    ]);
    expect(offered({ families: FAMILIES })[1]).toEqual([]);
  });

  it("that are not chosen replace no tool, but what a tool needs may be among them", () => {
    expect(offered({ families: ["files"] })[0]).toEqual(["Read", "create_directory", "SystemInfo"]);
    expect(offered({ families: ["terminals"] })[0]).toEqual(["TerminalExecute", "SystemInfo"]);
  });

  it("that this program does not know, of a newer relay, show nothing", () => {
    expect(offered({}, ["webcams", "shell"])[0]).toEqual(["Bash", "SystemInfo"]);
  });
});
