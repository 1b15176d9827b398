/** What `npm run test:changed` runs besides what imports a changed file. */
import { expect, it } from "vitest";
import { touchedBy } from "../../scripts/changed-files.ts";

it.each([
  ["worker/outbox.ts", ["scripts/worker-bundle.ts", "test/worker"]],
  ["agent/tools/read.ts", ["scripts/matrx-bin.ts"]],
  ["web/src/main.tsx", ["test/helpers/browser.ts", "agent/local/reference.ts"]],
  ["docs/guides/use.md", ["test/docs", "test/readme.process.test.ts"]],
  ["scripts/start/screen.ts", ["test/scripts"]],
])("a change of %s touches what starts or reads it", (file, by) => {
  expect(touchedBy([file])).toEqual([file, ...by]);
});

it("what relay, agent and app share touches all of them, each once", () => {
  const touched = touchedBy(["shared/frames.ts", "shared/ids.ts"]);
  expect(touched).toEqual(
    expect.arrayContaining(["test/worker", "scripts/matrx-bin.ts", "test/helpers/browser.ts"]),
  );
  expect(new Set(touched).size).toBe(touched.length);
});

it("a test that changed touches nothing but itself", () => {
  expect(touchedBy(["test/agent/edit/line-diff.test.ts"])).toEqual(["test/agent/edit/line-diff.test.ts"]);
});
