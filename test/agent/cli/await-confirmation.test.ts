/** Waiting for somebody to confirm a code. The relay here is a server that says how often it was asked. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { awaitConfirmation } from "../../../agent/cli/client/await-confirmation.ts";
import { relayAt } from "../../../agent/cli/client/relay.ts";

const PAIRED = { status: "paired", device_id: "shed-0123456789", name: "shed", account: "owner" };

test.each([
  { what: "the first polls do not wait for a long interval", interval: 60, pending: 2 },
  { what: "later ones wait for no longer than a short one", interval: 0, pending: 12 },
])("$what", async ({ interval, pending }) => {
  let polls = 0;
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(++polls > pending ? PAIRED : { status: "pending" }));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const relay = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started = {
    ...{ code: "7K2M-9XQP", secret: "secret", verification_uri: `${relay}/#pair=7K2M-9XQP` },
    ...{ expires_in: 600, interval },
  };
  const confirmed = await awaitConfirmation(relayAt(relay), started, new AbortController().signal);
  expect(confirmed).toEqual(PAIRED);
  expect(polls).toBe(pending + 1);
});
