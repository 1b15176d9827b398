/** Names of tools for models: valid, distinct, steady, whatever the tools are called. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { modelNameOf, toolNameOf } from "../../shared/effects.ts";
import { modelNames } from "../../shared/model-names.ts";

const name = fc.oneof(
  fc.constantFrom("Bash", "Read", "local_bash", "BashOutput", "local_bash_output", "a.b", "a b", "a_b"),
  fc.string({ minLength: 1, maxLength: 128, unit: "binary" }),
  fc.string({ minLength: 60, maxLength: 128, unit: fc.constantFrom("a", "é", ".") }),
);
const names = fc.uniqueArray(name, { maxLength: 40 });

it("are valid and distinct for any set of tools", () => {
  void fc.assert(
    fc.property(names, (tools) => {
      const given = [...modelNames(tools).values()];
      expect(given).toHaveLength(tools.length);
      expect(new Set(given).size).toBe(tools.length);
      for (const one of given) expect(one).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }),
  );
});

it("do not depend on the order, and are never another tool's own name", () => {
  void fc.assert(
    fc.property(names, (tools) => {
      const given = modelNames(tools);
      expect(modelNames(tools.toReversed())).toEqual(given);
      for (const [own, modelName] of given)
        if (own !== modelName) expect(tools.includes(modelName)).toBe(false);
    }),
  );
});

it("of built-in tools are the guide's, which callers may always use", () => {
  expect(modelNames(["Bash", "ListDirectory", "x__y"])).toEqual(
    new Map([
      ["Bash", "local_bash"],
      ["ListDirectory", "local_list_directory"],
      ["x__y", "x__y"],
    ]),
  );
  expect(toolNameOf(modelNameOf("ListDirectory") ?? "")).toBe("ListDirectory");
});

it("of a built-in tool give way to a tool that is really called so", () => {
  const given = modelNames(["Bash", "local_bash"]);
  expect(given.get("local_bash")).toBe("local_bash");
  expect(given.get("Bash")).toMatch(/^local_bash_[0-9a-f]{8}$/);
});
