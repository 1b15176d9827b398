/** A dispatcher over a bench's real tools, for an AI that must ask before it writes or executes. */

import { join } from "node:path";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId, makeGrantId, makeSessionId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import type { Question } from "@matrx/shared/question.ts";
import { onTestFinished } from "vitest";
import type { Approval } from "../../../agent/core/approvals.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { MachineApprovals } from "../../../agent/core/machine-approvals.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { OwnPorts } from "../../../agent/ports/own-ports.ts";
import { deviceTools } from "../../../agent/tools/index.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { silentLog } from "./small-tools.ts";

export interface AskingOptions {
  /** The device's own; may be changed later by its fields. */
  readonly policy?: Policy;
  readonly keptMs?: number;
  readonly relay?: string;
}

type Input = Record<string, unknown>;

interface Call {
  readonly call?: string;
  readonly grant?: GrantScope;
  readonly session?: string;
  readonly relayPolicy?: Policy;
  readonly approval?: Approval;
}

export async function asking({ policy = {}, keptMs, relay }: AskingOptions = {}) {
  const bench = await Workbench.open();
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const ai: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"], paths: [bench.home] },
    ask: [{ effects: ["write", "execute"] }],
  };
  const machine = new MachineApprovals(keptMs === undefined ? {} : { keptMs });
  const { files, jobs, desktop, sandbox, uploads, terminals, sessions } = bench;
  const { checkPaths, lookAtPaths, lookInside } = bench;
  const dispatcher = new Dispatcher({
    ...{
      device: "box-0123456789",
      tools: fixedTools(
        deviceTools({
          files,
          jobs,
          desktop,
          sandbox,
          uploads,
          terminals,
          ownPorts: new OwnPorts({ folders: () => [] }),
        }),
      ),
      sessions,
      journal,
    },
    ...{
      log: silentLog,
      policy: { current: () => policy },
      checkPaths,
      lookAtPaths,
      lookInside,
      machine,
      relay,
    },
  });
  const session = makeSessionId();
  const request = (tool: string, input: Input, { call = makeCallId(), ...rest }: Call) => {
    return { tool, input, call, grant: ai, session, ...rest };
  };
  const prepare = async (tool: string, input: Input, options: Call = {}) => {
    const prepared = await dispatcher.prepare(request(tool, input, options));
    if (!prepared) throw new Error("it is prepared again");
    return prepared;
  };
  const run = async (tool: string, input: Input, options: Call = {}) => {
    const { header, body } = await dispatcher.run(request(tool, input, options));
    return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
  };
  /** What a person is asked about a call, and the yes that they would give. */
  const asked = async (tool: string, input: Input, options: Call = {}) => {
    const call = options.call ?? makeCallId();
    const prepared = await prepare(tool, input, { ...options, call });
    if ("code" in prepared || !prepared.ask) throw new Error(`not asked: ${JSON.stringify(prepared)}`);
    const { question, binding, at } = prepared;
    return { call, question, binding, at, approval: { id: "approval_1", binding } };
  };
  const question = async (tool: string, input: Input, options: Call = {}): Promise<Question> =>
    (await asked(tool, input, options)).question;
  return { bench, dispatcher, journal, machine, ai, session, prepare, run, asked, question };
}
