/** How many event streams one token may have open. */
import { expect, it } from "vitest";
import { EventStreams } from "../../../shared/caller/event-streams.ts";
import { ResponseBodies } from "../../../shared/caller/response-bodies.ts";
import { makeGrantId } from "../../../shared/ids.ts";
import { LIMITS } from "../../../shared/limits.ts";

it("more than a token may have are refused; another token is not held up, and one that ended makes room", async () => {
  const streams = new EventStreams(new ResponseBodies());
  const [greedy, other] = [makeGrantId(), makeGrantId()];
  const [first] = Array.from({ length: LIMITS.streamsPerGrant }, () => streams.open(greedy));
  const refused = { code: "RATE_LIMITED", details: { limit: LIMITS.streamsPerGrant } };
  expect(() => streams.open(greedy)).toThrow(expect.objectContaining(refused));
  const kept = streams.open(other);
  first?.end("result", new TextEncoder().encode("{}"));
  expect(await new Response(first?.body).text()).toContain("event: result");
  const last = streams.open(greedy);
  expect(() => streams.open(greedy)).toThrow(expect.objectContaining(refused));
  for (const grant of [greedy, other])
    streams.revoke(grant, { code: "CANCELLED", message: "The test is over", hop: "relay" });
  for (const { body } of [kept, last]) await body.cancel();
});
