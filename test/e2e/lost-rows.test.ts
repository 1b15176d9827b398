/** The relay's storage loses what was written last: no call runs again under its key, and nobody is told that it did not. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { deviceViewSchema } from "../../shared/api.ts";
import { databaseOf, tearWal } from "../helpers/stored.ts";
import { invoke, type RestAnswer } from "./caller.ts";
import { fileIn, linesOf, type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

it("answers the keys of calls that it lost with their outcomes, and runs none of them twice", async () => {
  const file = fileIn(rig);
  const call = (n: number): Promise<RestAnswer> =>
    invoke(rig.base, rig.token, {
      ...{ tool: "Bash", input: { command: `echo ${n} >> '${file}'; echo said ${n}` } },
      idempotency_key: `key-${n}`,
    });
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const before: RestAnswer[] = [];
  for (const n of numbers) before.push(await call(n));
  const times = rig.agent.states.filter((state) => state === "REGISTERED").length;
  await rig.restartRelay(() => tearWal(databaseOf(rig.dataDir, "Device"), 0.7));
  await rig.agent.registered(times);

  const after: RestAnswer[] = [];
  for (const n of numbers) after.push(await call(n));
  expect(after.map(({ type, output }) => [type, output])).toEqual(
    before.map(({ type, output }) => [type, output]),
  );
  expect(linesOf(file)).toEqual(numbers.map(String));
  const lost = numbers.filter((n) => after[n]?.call !== before[n]?.call);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(numbers.length);
  // That is not only mended, but said.
  const view = await rig.relay.request(
    { token: rig.token },
    `GET /v1/devices/${rig.device}`,
    deviceViewSchema,
  );
  expect(view.records_lost).toMatch(/Z$/);
  // From now on the relay knows them again.
  expect((await call(19)).call).toBe(after[19]?.call);
});
