/** The same idempotency key gives the same outcome, an error too. */
import { expect, it } from "vitest";
import { AgentDevice, pairAgent } from "./helpers/device.ts";
import { ask, bearer, json, Person } from "./helpers/relay.ts";

it("answers a kept error as it was the first time: status, code, hint", async () => {
  const person = await Person.signIn();
  const identity = await pairAgent(person);
  const device = await AgentDevice.come(identity);
  const { token } = await person.token({ access: "full" });
  const call = () =>
    ask(
      `/v1/devices/${identity.id}/tools/Write`,
      json({ file_path: "/a" }, { ...bearer(token), "Idempotency-Key": "one" }),
    );

  const asking = call();
  const execute = await device.expect("tool_execute");
  const hint = "Give it more time";
  const why = { code: "TIMEOUT", hint, hop: "agent" } as const;
  device.answer(execute, "Write was stopped", { status: "error", code: "TIMEOUT" }, why);
  const first = await asking;
  const again = await call();

  expect(first.status).toBe(504);
  expect(again.status).toBe(first.status);
  expect(await again.json()).toEqual(await first.json());
  expect(device.unread).toBeLessThanOrEqual(1);
});
