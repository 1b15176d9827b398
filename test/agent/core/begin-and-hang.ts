/** An agent's journal in a process that is killed: one call ended, one begun. */
import { Journal } from "../../../agent/core/journal.ts";

const journal = new Journal(process.argv[2] ?? "");
await journal.begin("ended", "Write");
journal.finish("ended", { header: { call: "ended", status: "success", ms: 1 }, body: Buffer.from("{}") });
await journal.begin("begun", "Write");
process.send?.({ id: journal.id });
setInterval(() => {}, 1000);
