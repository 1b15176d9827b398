/** An agent's journal in a process that may write no more: calls until one cannot be written, then acknowledgements. */
import { setTimeout as sleep } from "node:timers/promises";
import { Journal } from "../../../agent/core/journal.ts";

const failures: unknown[] = [];
const journal = new Journal(process.argv[2] ?? "", { failed: (error) => failures.push(error) });
const ended: string[] = [];
try {
  for (let n = 0; n < 1000; n++) {
    await journal.begin(`c${n}`, "Write");
    const header = { call: `c${n}`, status: "success" as const, ms: 1 };
    journal.finish(`c${n}`, { header, body: Buffer.alloc(1000) });
    ended.push(`c${n}`);
  }
} catch {
  journal.acknowledge(ended);
  await sleep(300);
  console.log(
    JSON.stringify({ ended: ended.length, failures: failures.length, found: journal.find("c0")?.state }),
  );
}
