/** A grant that the relay ends: what runs for it on the machine ends, and nothing else. */
import { expect, test } from "vitest";
import type { GrantScope } from "../../../shared/grant.ts";
import { OWNER, READER } from "../core/small-tools.ts";
import { type DeviceSocket, startScriptedRelay } from "./scripted-relay.ts";
import { startAgent } from "./start-agent.ts";

function wait(socket: DeviceSocket, call: string, grant: GrantScope): void {
  socket.send({
    ...{ type: "tool_execute", tool_call_id: call, id: call, tool: "Grep", parameters: {} },
    ...{ timeout_sec: 5, grant, policy: {} },
  });
}

test("its running calls end, also if the relay has forgotten them", async () => {
  const relay = await startScriptedRelay();
  startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register();
  wait(socket, "own", OWNER);
  wait(socket, "guest", READER);
  socket.send({ type: "session_end", grant: READER.id });
  expect((await socket.result()).answer).toMatchObject({ id: "guest", code: "CANCELLED" });
  socket.send({ type: "tool_cancel", tool_call_id: "own" });
  expect((await socket.result()).answer).toMatchObject({ id: "own", code: "CANCELLED" });
});
