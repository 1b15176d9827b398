/** Opens an agent's journal when told to, and says which call a key stands for; holds it until the parent goes. */
import { openAgentJournal } from "../../../agent/core/agent-journal.ts";
import { LOCAL_GRANT } from "../../../agent/core/journal-entry.ts";
import { silentLog } from "./small-tools.ts";

const options = JSON.parse(process.argv[2] ?? "");
process.once("message", () => {
  const { journal } = openAgentJournal({ ...options, log: silentLog });
  process.send?.({ call: journal.findByKey(LOCAL_GRANT, "k")?.call });
});
process.once("disconnect", () => process.exit());
process.send?.("ready");
