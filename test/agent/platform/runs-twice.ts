/** Starts itself anew once, by a swap or by a child, and says of each run what it sees. Then it ends with 7, or waits. */
import { replaceProcess } from "../../../agent/cli/run/restart.ts";

const [, , how, end] = process.argv;
process.on("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ pid: process.pid, parent: process.ppid, arguments: process.argv.slice(2) }));
if (process.env.AGAIN) {
  if (end === "waits") setInterval(() => undefined, 1000);
  else process.exitCode = 7;
} else {
  process.env.AGAIN = "1";
  if (how === "gone") process.argv[1] = "/no/such/program.ts";
  await replaceProcess(how === "child" ? null : process.execve).catch((error: NodeJS.ErrnoException) => {
    console.log(JSON.stringify({ failed: error.code }));
  });
}
