/** docs/tools.md is what the tools say of themselves. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manifestOf } from "../../agent/core/manifest.ts";
import { Desktop } from "../../agent/desktop/desktop.ts";
import { Files } from "../../agent/fs/access.ts";
import { Jobs } from "../../agent/jobs/jobs.ts";
import { linux } from "../../agent/platform/linux/linux.ts";
import { OwnPorts } from "../../agent/ports/own-ports.ts";
import { DomainProxies } from "../../agent/sandbox/domain-proxies.ts";
import { Sandbox } from "../../agent/sandbox/sandbox.ts";
import { Terminals } from "../../agent/terminals/terminals.ts";
import { deviceTools } from "../../agent/tools/index.ts";
import { Uploads } from "../../agent/transfers/uploads.ts";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { closedPaths } from "../helpers/protected-paths.ts";
import { toolsPage } from "./tools-page.ts";

const PATH = join(ROOT, "docs/tools.md");

test("the page lists every tool as it is (UPDATE_DOCS=1 writes it anew)", async () => {
  const jobs = await Jobs.open({ directory: temporaryFolder() });
  const desktop = new Desktop({ platform: linux });
  onTestFinished(() => {
    jobs.close();
    desktop.close();
  });
  const uploads = new Uploads({ directory: temporaryFolder(), platform: linux });
  onTestFinished(() => uploads.close());
  const files = new Files({ protectedPaths: closedPaths(), platform: linux });
  const { tools } = await manifestOf(
    deviceTools({
      files,
      jobs,
      desktop,
      uploads,
      terminals: new Terminals({ folder: "/nowhere" }),
      sandbox: new Sandbox({ files, proxies: new DomainProxies("/nowhere") }),
      ownPorts: new OwnPorts({ folders: () => [] }),
    }),
  );
  const wanted = toolsPage(tools);
  if (process.env.UPDATE_DOCS === "1") writeFileSync(PATH, wanted);
  expect(readFileSync(PATH, "utf8")).toBe(wanted);
});
