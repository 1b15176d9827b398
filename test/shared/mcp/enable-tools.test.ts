/** What a model is told of the tools that it enables is what its list then has. */
import { expect, it, vi } from "vitest";
import { effectOf } from "../../../shared/effects.ts";
import { ChosenTools, enabledInMemory } from "../../../shared/mcp/enable-tools.ts";
import { deviceTools } from "../../../shared/mcp/tools.ts";
import { offeredTools, type WantedView } from "../../../shared/model-view.ts";
import type { Family } from "../../../shared/tool-families.ts";

const DEVICE = ["Bash", "Read", "DirectoryTree", "SystemInfo", "TerminalExecute", "box__open"].map(
  (name) => ({
    ...{ name, description: `${name} does it.`, effect: effectOf(name), input_schema: { type: "object" } },
  }),
);

const listed = async (view: WantedView) =>
  deviceTools(offeredTools(DEVICE, () => true, {}, { ...view, naming: "own" }).tools);

function chosenFrom(families: readonly Family[]) {
  const onChange = vi.fn();
  const chosen = new ChosenTools({ families, enabled: enabledInMemory(), onChange });
  const enable = async (family: Family) => {
    const { content } = await chosen.enable({ family }, listed);
    return [...JSON.stringify(content).matchAll(/\\"name\\":\\"(\w+)\\"/g)].map(([, name]) => name);
  };
  return { enable, onChange, names: async () => (await listed(chosen.view)).map(({ name }) => name) };
}

it("without one that another in the list does as well", async () => {
  const { enable, names } = chosenFrom(["shell"]);
  expect(await enable("files")).toEqual(["Read"]);
  expect(await names()).toEqual(["Bash", "Read", "SystemInfo"]);
});

it("without those that are in every list", async () => {
  const { enable } = chosenFrom(["files"]);
  expect(await enable("terminals")).toEqual(["TerminalExecute"]);
  expect(await enable("mounted")).toEqual(["box__open"]);
});

it("and its client hears of it once", async () => {
  const { enable, onChange } = chosenFrom(["files"]);
  await enable("shell");
  expect(await enable("shell")).toEqual(["Bash"]);
  await expect(enable("ports")).rejects.toThrow('There are no tools of "ports" that you could call');
  expect(onChange).toHaveBeenCalledTimes(1);
});
