/** Programs where the library for pseudo terminals does not load: they get pipes, and whoever asks is told so. */
import { expect, test, vi } from "vitest";
import { findPty } from "../../../agent/terminals/holder/pty.ts";

vi.mock("@lydell/node-pty", () => {
  throw new Error("this machine has no library for it");
});

async function run(command: string, typed: string) {
  const { open, pty } = await findPty();
  expect(pty).toBe(false);
  const ended = Promise.withResolvers<[number | null, number | null]>();
  let output = "";
  const program = { file: "/bin/sh", args: ["-c", command], cwd: "/", env: {}, cols: 80, rows: 24 };
  const opened = open(program, {
    onOutput: (bytes) => {
      output += bytes.toString();
    },
    onExit: (...how) => ended.resolve(how),
  });
  opened.resize(100, 30);
  opened.input.write(Buffer.from(typed));
  await opened.input.drained();
  return { opened, ended: ended.promise, text: () => output };
}

test("it reads what is typed, and its output, errors and exit code come back", async () => {
  const { ended, text } = await run("read line; echo got $line; echo wrong >&2; exit 3", "x\n");
  expect(await ended).toEqual([3, null]);
  expect(text().split("\n").toSorted()).toEqual(["", "got x", "wrong"]);
});

test("it is ended with all of its group", async () => {
  const { opened, ended, text } = await run("sleep 1000 & echo ready; wait", "");
  await vi.waitFor(() => expect(text()).toBe("ready\n"));
  opened.kill("SIGKILL");
  const [code] = await ended;
  expect(code).toBe(null);
});
