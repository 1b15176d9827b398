/** What a device says that it can do: as far as its tools go, and what is there for them. */
import { expect, test } from "vitest";
import { manifestOf } from "../../../agent/core/manifest.ts";
import { capabilitiesOf } from "../../../agent/relay/register.ts";
import { Workbench } from "../tools/workbench.ts";

const NAMES = ["Read", "Write", "Bash", "open_app", "Screenshot", "ListProcesses"];
/** Of another machine, as far as that shows here. */
const SCREEN = { DISPLAY: "elsewhere:0" };

async function toolsOfABench(env: NodeJS.ProcessEnv) {
  const bench = await Workbench.open({ env });
  return (await manifestOf(NAMES.map((name) => bench.tool(name)))).tools;
}

test("on a machine with a screen it controls applications and takes pictures", async () => {
  expect(capabilitiesOf(await toolsOfABench(SCREEN))).toEqual({
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
  const said = capabilitiesOf(await toolsOfABench({}));
  expect(said).toMatchObject({ app_control: false, screenshot: false, file_operations: true, shell: true });
});

test("without tools it can do nothing", () => {
  expect(Object.values(capabilitiesOf([])).includes(true)).toBe(false);
});
