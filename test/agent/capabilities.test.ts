/** What a device says that it can do: as far as its tools go, and what is there for them. */
import { expect, test } from "vitest";
import { capabilitiesOf } from "../../agent/capabilities.ts";
import { linux } from "../../agent/platform/linux.ts";
import { Workbench } from "./tools/workbench.ts";

async function toolsOfABench() {
  const bench = await Workbench.open();
  return ["Read", "Write", "Bash", "open_app", "Screenshot", "ListProcesses"].map((name) => bench.tool(name));
}

test("on a machine with a screen it controls applications and takes pictures", async () => {
  expect(capabilitiesOf(await toolsOfABench(), linux, { DISPLAY: ":0" })).toEqual({
    file_operations: true,
    app_control: true,
    voice: false,
    homelab: false,
    shell: true,
    screenshot: true,
    processes: true,
  });
});

test("on a machine without one it does not", async () => {
  const said = capabilitiesOf(await toolsOfABench(), linux, {});
  expect(said).toMatchObject({ app_control: false, screenshot: false, file_operations: true, shell: true });
});

test("without tools it can do nothing", () => {
  expect(Object.values(capabilitiesOf([], linux, { DISPLAY: ":0" })).includes(true)).toBe(false);
});
