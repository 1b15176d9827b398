/** Writes lines into a log, as one of several programs: path, name, how many, size at which it is set aside. */
import { LogFile } from "../../../agent/log/log-file.ts";

const [path = "", name = "", count = "0", bytes = "0"] = process.argv.slice(2);
const log = new LogFile({ path, maxBytes: Number(bytes) });
for (let n = 0; n < Number(count); n++) log.write(`${name} ${n} ${"x".repeat(20)}\n`);
