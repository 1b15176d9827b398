/** An agent that opens a terminal, tells its id, and is then killed by its test. Arguments: the folder, and the command. */
import { Terminals } from "../../../agent/terminals/terminals.ts";
import { OWNER } from "./held.ts";

const [folder = "", command = ""] = process.argv.slice(2);
const terminals = new Terminals({ folder });
const file = "/bin/bash";
const size = { cols: 80, rows: 24 };
const id = await terminals.create({
  ...{ grant: OWNER, session: "s", file, args: ["-c", command], cwd: "/" },
  ...size,
});
console.log(id);
setInterval(() => undefined, 1000);
