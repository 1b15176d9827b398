/** Watchers of an agent: those that leave cost nothing, and those that do not read are let go. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { activityRoutes } from "../../../agent/control/activity-routes.ts";
import { CONTROL_HOST, controlEndpoint } from "../../../agent/control/endpoint.ts";
import { startControlServer } from "../../../agent/control/server.ts";
import { Activity } from "../../../agent/core/activity.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog } from "../core/small-tools.ts";

async function serve() {
  const folder = join(temporaryFolder(), "control");
  const activity = new Activity();
  const server = await startControlServer({
    ...{ folder, name: "agent", log: silentLog, routes: [activityRoutes(activity)] },
  });
  onTestFinished(() => server.close());
  const watch = async (query = ""): Promise<IncomingMessage> => {
    const socketPath = controlEndpoint(folder, "agent");
    const sent = request({
      socketPath,
      path: `/activity${query}`,
      agent: false,
      headers: { Host: CONTROL_HOST },
    });
    sent.end();
    const [response] = await once(sent, "response");
    return response as IncomingMessage;
  };
  return { activity, watch };
}

test("the last entries are told, as many as are wanted", async () => {
  const { activity, watch } = await serve();
  for (const paused of ["everyone", undefined, "ai"] as const) activity.notePause(paused);
  const types = async (query: string) =>
    (await text(await watch(query)))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line).type);
  expect(await types("?follow=false")).toEqual(["paused", "resumed", "paused"]);
  expect(await types("?follow=false&last=2")).toEqual(["resumed", "paused"]);
  expect(await types("?follow=false&last=0")).toEqual([]);
});

test("once a watcher has left, nothing is described for it", async () => {
  const { activity, watch } = await serve();
  let described = 0;
  const isWatched = () => {
    described = 0;
    activity.note(() => {
      described++;
      return { type: "connected", at: new Date().toISOString() };
    });
    return described > 0;
  };
  expect(isWatched()).toBe(false);
  const watcher = await watch();
  await expect.poll(isWatched).toBe(true);
  watcher.on("error", () => undefined).destroy();
  await expect.poll(isWatched).toBe(false);
});

test("a watcher that does not read is let go", async () => {
  const { activity, watch } = await serve();
  const watcher = await watch();
  watcher.pause();
  for (let n = 0; n < 20_000; n++) activity.notePause(n % 2 === 0 ? "ai" : undefined);
  watcher.resume();
  const lines = (await text(watcher)).split("\n");
  expect(lines.length).toBeLessThan(20_000);
});
