/** What a machine allows in a test. */
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { Policy } from "../../shared/policy.ts";
import type { App } from "./app.ts";

/** The relay's own policy of the machine, until the end of the test. */
export async function setPolicy({ relay, machine }: App, wanted: Policy): Promise<void> {
  const put = async (policy: Policy) =>
    relay.request(await relay.signIn(), `PUT /v1/devices/${machine.id}/policy`, z.unknown(), policy);
  onTestFinished(() => put({}).then(() => undefined));
  await put(wanted);
}
