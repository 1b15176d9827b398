/** A device that was removed is unknown on every route, also to an isolate that found it before. */
import { expect, it } from "vitest";
import { json, Person } from "../helpers/relay.ts";

it("is answered by 404, never by a fault of ours", async () => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice();
  const at = `/v1/devices/${id}`;
  expect((await person.ask(at)).status).toBe(200);
  expect((await person.ask(at, { method: "DELETE" })).status).toBe(204);
  const asked = {
    device: person.ask(at),
    policy: person.ask(`${at}/policy`),
    setPolicy: person.setPolicy(id, { allowed_tools: [] }),
    rename: person.rename(id, "new"),
    tools: person.ask(`${at}/tools`),
    call: person.ask(`${at}/tools/SystemInfo`, json({})),
    invoke: person.ask(`${at}/tools/invoke`, json({ tool: "SystemInfo" })),
    events: person.ask(`${at}/events`),
    command: person.ask(`${at}/commands`, json({ command: "restart_client" })),
    prompt: person.ask(`${at}/system-prompt`),
    ticket: person.ask("/v1/tickets", json({ device: id })),
    remove: person.ask(at, { method: "DELETE" }),
  };
  for (const [what, answer] of Object.entries(asked)) {
    const { code } = await (await answer).json<{ code: string }>();
    expect(`${what} ${code}`).toBe(`${what} UNKNOWN_DEVICE`);
  }
});
