/** Many calls at once over MCP are all under way, as they are by REST. */
import { RATES } from "@matrx/shared/limits.ts";
import { expect, it } from "vitest";
import { home } from "../helpers/home.ts";
import { callOver, say, sessionAt } from "../helpers/mcp.ts";

/** What an AI's rate lets it do at once. */
const AT_ONCE = RATES.guest.calls_at_once;

it.each([
  ["at a device, in a session", true, true],
  ["at a device", true, false],
  ["at all devices", false, false],
])("a burst of calls is answered, each one: %s", async (_, isAtDevice, hasSession) => {
  const { person, identity, device } = await home();
  const { token } = await person.grant({ paths: null, effects: ["read"], ask: [] });
  const path = isAtDevice ? `/mcp/d/${identity.id}` : "/mcp";
  const session = hasSession ? await sessionAt(path, token) : undefined;
  const input = { file_path: "/x", ...(!isAtDevice && { device: identity.id }) };
  const params = { name: "Read", arguments: input };
  const call = (id: number) =>
    session
      ? say(path, token, { id, method: "tools/call", params }, session)
      : callOver(path, token, "Read", input);
  const asked = Array.from({ length: AT_ONCE }, async (__, id) => (await call(id + 1)).text());
  // An early answer is a refusal.
  const refused = Promise.race(asked).then((text) => {
    throw new Error(text);
  });
  refused.catch(() => undefined);
  // All are under way before the first is answered.
  const executes = [];
  while (executes.length < AT_ONCE)
    executes.push(await Promise.race([device.expect("tool_execute"), refused]));
  for (const execute of executes) device.answer(execute, "it was read");
  for (const text of await Promise.all(asked)) expect(text).toContain("it was read");
});
