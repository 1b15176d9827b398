/** Programs of the system, run to their end. */
import { expect, test } from "vitest";
import { ProgramFailed, runProgram } from "../../../agent/platform/run-program.ts";

const SHORT = { timeoutMs: 10_000 };
const node = (script: string) => [process.execPath, ["-e", script]] as const;

test("what it wrote comes as bytes, and it has nothing to read", async () => {
  const script =
    "process.stdin.on('end', () => { process.stdout.write(Buffer.from([255, 10])); console.error('aside'); }).resume()";
  const { stdout, stderr } = await runProgram(...node(script), SHORT);
  expect([...stdout]).toEqual([255, 10]);
  expect(stderr.toString()).toBe("aside\n");
});

test("it sees the environment that it is given, and no other", async () => {
  const script = "console.log(process.env.ONE, process.env.HOME)";
  const { stdout } = await runProgram(...node(script), { ...SHORT, env: { ONE: "1" } });
  expect(stdout.toString()).toBe("1 undefined\n");
});

test.each([
  ["its last words", "console.error('first\\nlast'); process.exit(3)", "last"],
  ["its exit code", "process.exit(3)", "it ended with exit code 3"],
  [
    "the signal",
    "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e5)",
    "it was ended by SIGTERM",
  ],
])("of one that fails %s are said", async (_what, script, message) => {
  const failure = runProgram(...node(script), SHORT);
  await expect(failure).rejects.toThrow(ProgramFailed);
  await expect(failure).rejects.toThrow(message);
});

test("one that is not there is said", async () => {
  await expect(runProgram("/none/such", [], SHORT)).rejects.toThrow("it could not be started (ENOENT)");
});

test("one that does not end is killed at its time, whatever it says to that", async () => {
  const deaf = "process.on('SIGTERM', () => {}); setTimeout(() => {}, 1e5)";
  await expect(runProgram(...node(deaf), { timeoutMs: 300 })).rejects.toThrow("it did not end within 300 ms");
});

test("the signal's reason comes out of one that is stopped", async () => {
  const stop = new AbortController();
  const running = runProgram(...node("setTimeout(() => {}, 1e5)"), { ...SHORT, signal: stop.signal });
  const reason = new Error("cancelled");
  stop.abort(reason);
  await expect(running).rejects.toBe(reason);
  await expect(runProgram(...node(""), { ...SHORT, signal: stop.signal })).rejects.toBe(reason);
});
