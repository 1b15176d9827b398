/** Tabs and panes of the terminal's page. */
import { expect, test } from "vitest";
import {
  activated,
  activePane,
  allPanes,
  EMPTY,
  isLayout,
  type Layout,
  type Pane,
  paneAfter,
  resized,
  showing,
  shown,
  tabAfter,
  titled,
  watching,
  withOthers,
  without,
  withSplit,
  withTab,
} from "../../../web/src/features/terminal/layout.ts";

const pane = (id: string): Pane => ({
  kind: "pane",
  id,
  terminal: `term_${id}`,
  name: "bash",
  watches: false,
});

/** A tab with `a` beside `b` over `c`, and one with `d`. */
function two(): Layout {
  const first = withSplit(withTab(EMPTY, pane("a")), "a", "horizontal", pane("b"));
  return withTab(withSplit(first, "b", "vertical", pane("c")), pane("d"));
}

const ids = (layout: Layout) => allPanes(layout).map(({ id }) => id);

test("a new tab is shown, and a pane is split into two halves, of which the new one is used", () => {
  const layout = two();
  expect(ids(layout)).toEqual(["a", "b", "c", "d"]);
  expect(layout.current).toBe("d");
  expect(activePane(shown(layout, "a"))?.id).toBe("c");
  expect(layout.tabs[0]?.root).toMatchObject({
    ...{ kind: "split", direction: "horizontal", share: 50, first: { id: "a" } },
    second: { direction: "vertical", first: { id: "b" }, second: { id: "c" } },
  });
});

test("what shared its room with a pane that is closed gets all of it, and the last pane takes its tab along", () => {
  const layout = without(without(two(), "b"), "d");
  expect(layout.tabs[0]?.root).toMatchObject({ first: { id: "a" }, second: { id: "c" } });
  expect(layout.current).toBe("a");
  expect(activePane(without(layout, "c"))?.id).toBe("a");
  expect(without(without(layout, "c"), "a")).toEqual(EMPTY);
  expect(without(layout, "gone")).toBe(layout);
});

test("keys go round the panes of a tab, and the tabs", () => {
  const layout = activated(two(), "a");
  expect([1, 2, 3, -1].map((steps) => paneAfter(layout, steps))).toEqual(["b", "c", "a", "c"]);
  expect([1, 2, -1].map((steps) => tabAfter(layout, steps))).toEqual(["d", "a", "d"]);
  expect(paneAfter(EMPTY, 1)).toBeUndefined();
  expect(tabAfter(EMPTY, 1)).toBeUndefined();
});

test("a pane can be resized, take part, and show another terminal", () => {
  const layout = resized(two(), "of b", 30);
  expect(layout.tabs[0]?.root).toMatchObject({ share: 30, second: { share: 50 } });
  expect(allPanes(watching(layout, "b", true))[1]).toMatchObject({ watches: true });
  const again = showing(watching(layout, "b", true), "b", { terminal: "term_new", name: "zsh" });
  expect(allPanes(again)[1]).toMatchObject({ id: "b", terminal: "term_new", name: "zsh", watches: false });
});

test("a tab has a name of its own, of a bounded length, until it is empty", () => {
  const layout = titled(two(), "a", "  beans and peas ");
  expect(layout.tabs.map(({ title }) => title)).toEqual(["beans and peas", undefined]);
  expect(isLayout(JSON.parse(JSON.stringify(layout)))).toBe(true);
  expect(titled(layout, "a", " ")).toEqual(two());
  expect(titled(layout, "gone", "x")).toEqual(layout);
  const [long] = titled(layout, "a", "🫘".repeat(100)).tabs;
  expect(long?.title).toBe("🫘".repeat(60));
});

test("what was kept is taken only if it is whole", () => {
  expect(isLayout(JSON.parse(JSON.stringify(two())))).toBe(true);
  expect(isLayout(JSON.parse(JSON.stringify(EMPTY)))).toBe(true);
  const broken: readonly unknown[] = [
    ...[null, 5, [], {}, { tabs: {} }, { tabs: [], current: "x" }],
    { ...two(), current: "gone" },
    { tabs: [{ id: "a", root: pane("a"), active: "other" }], current: "a" },
    { tabs: [{ id: "a", root: pane("a"), active: "a", title: {} }], current: "a" },
    { tabs: [{ id: "a", root: { ...pane("a"), terminal: 1 }, active: "a" }], current: "a" },
    { tabs: [{ id: "a", root: { kind: "split", id: "s", first: pane("a") }, active: "a" }], current: "a" },
    { tabs: Array.from({ length: 17 }, () => two().tabs[1]), current: "d" },
  ];
  for (const kept of broken) expect(isLayout(kept), JSON.stringify(kept)).toBe(false);
});

test("what is kept for a new tab of the browser holds the terminals of all its tabs, each as it was shown last", () => {
  const shared = withTab(EMPTY, pane("shared"));
  const first = withSplit(shared, "shared", "horizontal", pane("of-first"));
  const second = withTab(shared, pane("of-second"));
  // The first tab of the browser writes, then the second one, then the first again.
  let last = withOthers(first, { before: shared, last: shared });
  last = withOthers(second, { before: shared, last });
  expect(last).toEqual({
    tabs: [...second.tabs, expect.objectContaining({ root: pane("of-first") })],
    current: "of-second",
  });
  expect(isLayout(last)).toBe(true);
  expect(new Set(last.tabs.map(({ id }) => id)).size).toBe(last.tabs.length);
  const closed = without(first, "shared");
  last = withOthers(closed, { before: first, last });
  expect(allPanes(last).map(({ id }) => id)).toEqual(["of-first", "of-second"]);
  expect(last.current).toBe(closed.current);
  // The last terminal of a tab is closed: those of the other tabs stay.
  last = withOthers(EMPTY, { before: closed, last });
  expect(last).toEqual({
    tabs: [expect.objectContaining({ root: pane("of-second") })],
    current: "of-second",
  });
  // No layout has more panes than one tab can show: this tab's own come first.
  const many = Array.from({ length: 16 }, (_, at) => pane(`p${at}`)).reduce(withTab, EMPTY);
  expect(withOthers(many, { before: many, last })).toEqual(many);
});
