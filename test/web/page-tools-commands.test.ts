/** What an AI learns of commands that do not simply end, and of many calls at once. */
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections } from "./app.ts";
import { answer, letAct, letIn, matrx, question } from "./page-tools.ts";
import { expectOnScreen, startTerminalApp, typeLine } from "./terminal.ts";

describe("commands by the page's tools", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();

  test("that still run are told after 30 seconds, and what the shell does not run blocks nothing", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/terminal`);
    await letAct(page);
    const run = (command: string, more?: object) => matrx(page, "terminal_execute", { command, ...more });
    expect(await run("if then")).toMatchObject({
      ...{ failed: true, code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining("syntax error") },
    });
    expect(await run("echo after")).toEqual({ output: "after\n", exit_code: 0, terminal_id: 1 });
    const [unfinished, stays] = ["echo 'open", "echo begun; read -r line"];
    // The machine is asked to wait as long as the document says, but does not have to here.
    const waits: unknown[] = [];
    await page.route("**/tools/TerminalExecute", (route) => {
      const input = route.request().postDataJSON();
      if (input.command !== unfinished && input.command !== stays) return route.continue();
      waits.push(input.yield_ms);
      return route.continue({ postData: JSON.stringify({ ...input, yield_ms: 2_000 }) });
    });
    const open = run(unfinished, { terminal_id: 1 });
    await expectOnScreen(page, /echo 'open\n>$/);
    const running = matrx(page, "run_in_new_terminal", { command: stays });
    expect(await open).toMatchObject({
      failed: true,
      message: expect.stringContaining("ctrl-c was pressed"),
    });
    expect(await run("echo 'closed'", { terminal_id: 1 })).toMatchObject({
      output: "closed\n",
      exit_code: 0,
    });
    expect(await running).toEqual({ terminal_id: 2, output: "begun\n", running: true });
    expect(waits).toEqual([30_000, 30_000]);
    expect(await run("echo more", { terminal_id: 2 })).toMatchObject({
      ...{ failed: true, code: "CONFLICT", hint: expect.stringContaining("terminal_close") },
    });
    await matrx(page, "terminal_focus", { terminal_id: 2 });
    await typeLine(page, "typed");
    await expectOnScreen(page, /typed\n.*[$#]$/);
    expect(await run("echo $line")).toEqual({ output: "typed\n", exit_code: 0, terminal_id: 2 });
    expect(faults).toEqual([]);
  });

  test("may be called at once, each in a terminal of its own", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/terminal`);
    await letAct(page);
    const ids = [2, 3, 4, 5, 6, 7];
    const made = await Promise.all(
      ids.map((at) => matrx(page, "run_in_new_terminal", { command: `echo ${at}` })),
    );
    expect(made).toMatchObject(ids.map((at) => ({ output: `${at}\n` })));
    const closed = await Promise.all(ids.map((at) => matrx(page, "terminal_close", { terminal_id: at })));
    expect(closed).toEqual(ids.map(() => ({ success: true })));
    expect(faults).toEqual([]);
  });

  test("show their end in the question, however long they are, and its buttons stay on the screen", async () => {
    const opened = await app.open(`/d/${app.machine.id}/terminal`, { screen: "phone" });
    const { page } = opened;
    await page.setViewportSize({ width: 360, height: 640 });
    await letIn(page);
    for (const [command, size] of [
      [`echo hi${"\n".repeat(5000)}rm -rf gone`, "5001 lines, 5018 characters"],
      [`echo ${" ".repeat(50_000)}; rm -rf gone`, "1 line, 50018 characters"],
    ] as const) {
      const denied = matrx(page, "run_in_new_terminal", { command });
      await question(page).getByText(`${size}. It ends with:`).waitFor();
      expect(await question(page).getByRole("group", { name: "Its end" }).textContent()).toMatch(
        /rm -rf gone\n$/,
      );
      for (const button of await question(page).getByRole("button").all()) {
        const box = await button.boundingBox();
        expect((box?.y ?? 1000) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
      }
      await expectNoObjections(opened);
      await answer(page, "Deny");
      expect(await denied).toMatchObject({ code: "APPROVAL_DENIED" });
    }
  });
});
