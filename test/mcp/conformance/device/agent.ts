/** `matrx up --json` of a paired machine, with the suite's tools in place of the machine's own. */
import { startAgent } from "../../../../agent/agent.ts";
import { prepareHome } from "../../../../agent/cli/agent-home.ts";
import { stopSignal } from "../../../../agent/cli/run/stop-signal.ts";
import { homeOf } from "../../../../agent/config/app-dirs.ts";
import { requireConfig } from "../../../../agent/config/config.ts";
import { readIdentity } from "../../../../agent/config/identity.ts";
import { startMonitors } from "../../../../agent/monitors/start.ts";
import { openReporting } from "../../../../agent/reporting.ts";
import { openToolbox } from "../../../../agent/toolbox.ts";
import { FIXTURE_TOOLS } from "./tools.ts";

const home = homeOf();
prepareHome(home);
const config = requireConfig(home);
const end = await startAgent(
  {
    ...{ home, device: config.device_id, monitors: config.monitors },
    log: { file: home.logFile, printed: "error" },
    relay: {
      ...{ config, identity: readIdentity(home) },
      onState: (state) => console.log(JSON.stringify({ state })),
    },
  },
  stopSignal(),
  {
    ...{ openReporting, startMonitors },
    openToolbox: async (options) => ({ ...(await openToolbox(options)), tools: FIXTURE_TOOLS }),
  },
);
if (end !== "stopped") throw new Error(`The agent ended: ${end}`);
