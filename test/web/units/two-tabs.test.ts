/** What two tabs of a browser choose one after the other: neither takes back what the other chose. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { changeView } from "../../../web/src/features/files/view.ts";
import { prefer } from "../../../web/src/features/terminal/preferences.ts";
import { savedWorkspace, saveWorkspace } from "../../../web/src/features/workspace/saved.ts";

let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Another tab changes one thing of what is kept. */
function elsewhere(key: string, change: object): void {
  kept.set(key, JSON.stringify({ ...JSON.parse(kept.get(key) ?? "{}"), ...change }));
}

test("how terminals look", () => {
  prefer({ fontSize: 20 });
  elsewhere("matrx-terminal", { fontSize: 11 });
  prefer({ scrollback: 20_000 });
  expect(JSON.parse(kept.get("matrx-terminal") ?? "")).toMatchObject({ fontSize: 11, scrollback: 20_000 });
});

test("how folders are shown", () => {
  changeView({ showHidden: true });
  elsewhere("matrx-files", { treeWidth: 300 });
  changeView({ fileWidth: 500 });
  expect(JSON.parse(kept.get("matrx-files") ?? "")).toMatchObject({
    ...{ showHidden: true, treeWidth: 300, fileWidth: 500 },
  });
});

test("how files and terminals stand together", () => {
  saveWorkspace("laptop", { side: "right" });
  saveWorkspace("laptop", { folder: "home/ann" });
  expect(savedWorkspace("laptop")).toMatchObject({ side: "right", folder: "home/ann" });
});
