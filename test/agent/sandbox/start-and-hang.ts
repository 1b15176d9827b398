/** Stands for an agent that is killed: starts a sandboxed command in the folder `work` of its argument, and waits. */
import path from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { Admission } from "../../../agent/core/gate.ts";
import { Files } from "../../../agent/fs/access.ts";
import { Jobs } from "../../../agent/jobs/jobs.ts";
import { DomainProxies } from "../../../agent/sandbox/domain-proxies.ts";
import { Sandbox } from "../../../agent/sandbox/sandbox.ts";

const root = process.argv[2] ?? "";
const work = path.join(root, "work");
const state = path.join(root, "state");
const grant = {
  id: makeGrantId(),
  owner: false,
  effects: ["read", "write", "execute"] as const,
  paths: [work],
};
const { rights } = new Admission(
  { grant: { ...grant, effects: [...grant.effects] } },
  {},
  async () => undefined,
);
const files = new Files({ protectedPaths: () => ({ closed: [state], program: [] }) });
const jobs = await Jobs.open({ directory: path.join(state, "jobs") });
const { rules, wrap } = await new Sandbox({ files, proxies: new DomainProxies("/nowhere") }).confine({
  session: { cwd: work },
  rights,
});
const command = "echo begun; until [ -e go ]; do sleep 0.02; done; rm go; exit 7";
await jobs.start({ grant: grant.id, command, cwd: rules.cwd, background: true, owner: false, confine: wrap });
setInterval(() => undefined, 60_000);
