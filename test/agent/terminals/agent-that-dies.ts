/** An agent that opens a terminal, tells its id, and is then killed by its test. Arguments: the folder, and the command. */
import { Terminals } from "../../../agent/terminals/terminals.ts";
import { LIMITS, script } from "./held.ts";

const [folder = "", command = ""] = process.argv.slice(2);
const terminals = new Terminals({ folder, limits: LIMITS });
const id = await terminals.create(script(command));
console.log(id);
setInterval(() => undefined, 1000);
