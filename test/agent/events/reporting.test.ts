/** The log and the events of one program, together. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openReporting } from "../../../agent/reporting.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

function open() {
  const folder = temporaryFolder();
  const file = join(folder, "agent.log");
  const conditionsFile = join(folder, "conditions.json");
  const reporting = openReporting({ device: "box", log: { file }, conditionsFile });
  const lines = () =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...reporting, lines };
}

test("an error in the log is an event, once; a warning is none", () => {
  const { log, hub, close } = open();
  onTestFinished(close);
  log.warn("a little thing");
  for (let n = 0; n < 3; n++) log.error({ err: new Error("disk full") }, "the outcome could not be written");
  expect(hub.recent()).toMatchObject([
    {
      ...{ event_type: "error_occurred", severity: "warning" },
      data: { message: "the outcome could not be written", cause: "disk full" },
    },
  ]);
});

test("a condition stands in the log when it begins and when it is over", () => {
  const { problems, lines, close } = open();
  onTestFinished(close);
  problems.raise("folder /in", { message: "/in is not watched" });
  problems.clear("folder /in", "/in is watched again");
  expect(lines()).toMatchObject([
    { level: 40, about: "folder /in", msg: "error_occurred", data: { message: "/in is not watched" } },
    { level: 30, about: "folder /in", msg: "error_occurred is over" },
  ]);
});

test("a promise that failed, and that nothing waited for, is told and is no end", () => {
  const { hub, close } = open();
  const before = process.listenerCount("unhandledRejection");
  const guard = process.listeners("unhandledRejection").at(-1);
  guard?.(new Error("nobody cared"), Promise.resolve());
  expect(hub.recent()).toMatchObject([{ event_type: "error_occurred", data: { cause: "nobody cared" } }]);
  close();
  expect(process.listenerCount("unhandledRejection")).toBe(before - 1);
});

test("what never left this machine is said at the end", () => {
  const { hub, lines, close } = open();
  hub.emit({ type: "trigger", severity: "info", data: {} });
  close();
  expect(lines()).toMatchObject([{ level: 40, waiting: 1, dropped: 0 }]);
});
