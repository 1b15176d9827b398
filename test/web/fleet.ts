/** Three machines of one account: two that run on this computer, and one that was never seen. */
import { afterAll, beforeAll } from "vitest";
import { createdDeviceSchema, deviceViewSchema } from "../../shared/api.ts";
import { type Policy, policySetSchema } from "../../shared/policy.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import type { App } from "./app.ts";

export interface Fleet {
  /** Online: the app's own machine. */
  readonly attic: Machine;
  /** Online. */
  readonly cellar: Machine;
  /** The id of the one that was never seen. */
  readonly garage: string;
  /** What a machine allows from now on. */
  setPolicy(machine: Machine, policy: Policy): Promise<void>;
}

/** Starts them before the tests of a file, and ends them after. */
export function startFleet(app: App): Fleet {
  let folder: string;
  let cellar: Machine;
  let garage: string;
  beforeAll(async () => {
    folder = makeFolder();
    cellar = await connectMachine(app.relay, folder);
    const owner = await app.relay.signIn();
    const rename = ({ id }: Machine, name: string) =>
      app.relay.request(owner, `PATCH /v1/devices/${id}`, deviceViewSchema, { name });
    await rename(app.machine, "attic");
    await rename(cellar, "cellar");
    const made = await app.relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name: "garage" });
    garage = made.device.id;
  });
  afterAll(async () => {
    await cellar?.agent.stop();
    removeFolder(folder);
  });
  return {
    get attic() {
      return app.machine;
    },
    get cellar() {
      return cellar;
    },
    get garage() {
      return garage;
    },
    async setPolicy({ id }, policy) {
      const owner = await app.relay.signIn();
      await app.relay.request(owner, `PUT /v1/devices/${id}/policy`, policySetSchema, policy);
    },
  };
}
