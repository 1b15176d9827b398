/** Records lines in a file until it takes no more. Argument: the file. */
import { Recording } from "../../../agent/terminals/holder/recording.ts";

const shown = { cols: 80, rows: 24, shell: "/bin/bash" };
let pieces = 0;
const recording = new Recording(process.argv[2] ?? "", shown, () => console.log(`ended at ${pieces}`));
for (; pieces < 100 && recording.isOn; pieces++) recording.output(Buffer.from(`${"x".repeat(5000)}\r\n`));
