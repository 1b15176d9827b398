/** Tabs, and the panes that each is split into. Pure: each change makes a new layout. */

export interface Pane {
  readonly kind: "pane";
  readonly id: string;
  /** The terminal that it shows. */
  readonly terminal: string;
  /** As the program in it says, or that of its shell. */
  readonly name: string;
  /** Only watches, as one does with another caller's. */
  readonly watches: boolean;
}

export type Direction = "horizontal" | "vertical";

export interface Split {
  readonly kind: "split";
  readonly id: string;
  /** `horizontal`: side by side. */
  readonly direction: Direction;
  /** The first one's part, in percent. */
  readonly share: number;
  readonly first: Node;
  readonly second: Node;
}

export type Node = Pane | Split;

export interface Tab {
  readonly id: string;
  readonly root: Node;
  /** The pane that was used last. */
  readonly active: string;
  /** As the person calls it; undefined: as the program in that pane says. */
  readonly title?: string;
}

export interface Layout {
  readonly tabs: readonly Tab[];
  /** The tab that is shown. */
  readonly current: string | undefined;
}

export const EMPTY: Layout = { tabs: [], current: undefined };

/** Panes that a layout may have: as many terminals as one token may open. */
export const MOST_PANES = 16;

/** Of a tab's own name, in characters. */
export const MOST_TITLE = 60;

export function panesOf(node: Node): readonly Pane[] {
  return node.kind === "pane" ? [node] : [...panesOf(node.first), ...panesOf(node.second)];
}

export function allPanes({ tabs }: Layout): readonly Pane[] {
  return tabs.flatMap(({ root }) => panesOf(root));
}

export function currentTab({ tabs, current }: Layout): Tab | undefined {
  return tabs.find(({ id }) => id === current);
}

/** The pane that is used. */
export function activePane(layout: Layout): Pane | undefined {
  const tab = currentTab(layout);
  return tab && activeOf(tab);
}

/** The pane of a tab that was used last. */
export function activeOf({ root, active }: Tab): Pane | undefined {
  return panesOf(root).find(({ id }) => id === active);
}

/** The pane in a tab of its own, which is shown. */
export function withTab(layout: Layout, pane: Pane): Layout {
  const tab: Tab = { id: pane.id, root: pane, active: pane.id };
  return { tabs: [...layout.tabs, tab], current: tab.id };
}

/** The pane beside, or below, another one, each with half of its room. */
export function withSplit(layout: Layout, beside: string, direction: Direction, pane: Pane): Layout {
  const split = (node: Node): Node =>
    node.kind === "pane" && node.id === beside
      ? { kind: "split", id: `of ${pane.id}`, direction, share: 50, first: node, second: pane }
      : node;
  return inTabs(layout, (tab) =>
    has(tab, beside) ? { ...tab, root: mapped(tab.root, split), active: pane.id } : tab,
  );
}

/** Without the pane. What it shared its room with gets all of it. */
export function without(layout: Layout, pane: string): Layout {
  const at = layout.tabs.findIndex((tab) => has(tab, pane));
  const tab = layout.tabs[at];
  if (!tab) return layout;
  const root = removed(tab.root, pane);
  if (root) {
    const active = tab.active === pane ? (panesOf(root)[0]?.id ?? "") : tab.active;
    return inTabs(layout, (one) => (one === tab ? { ...tab, root, active } : one));
  }
  const tabs = layout.tabs.filter((one) => one !== tab);
  const current = layout.current === tab.id ? tabs[Math.min(at, tabs.length - 1)]?.id : layout.current;
  return { tabs, current };
}

/** The pane shows another terminal. */
export function showing(layout: Layout, pane: string, terminal: Pick<Pane, "terminal" | "name">): Layout {
  return changed(layout, pane, (one) => ({ ...one, ...terminal, watches: false }));
}

/** The pane is called something else. */
export function named(layout: Layout, pane: string, name: string): Layout {
  return changed(layout, pane, (one) => ({ ...one, name }));
}

/** The tab has a name of its own; an empty one: no longer. */
export function titled(layout: Layout, id: string, title: string): Layout {
  const name = [...title.trim()].slice(0, MOST_TITLE).join("");
  return inTabs(layout, (tab) => {
    if (tab.id !== id) return tab;
    const { title: _, ...rest } = tab;
    return name === "" ? rest : { ...rest, title: name };
  });
}

/** The pane only watches from now on, or no longer. */
export function watching(layout: Layout, pane: string, watches: boolean): Layout {
  return changed(layout, pane, (one) => ({ ...one, watches }));
}

/** The pane is used, and its tab shown. */
export function activated(layout: Layout, pane: string): Layout {
  const tab = layout.tabs.find((one) => has(one, pane));
  if (!tab || (tab.active === pane && layout.current === tab.id)) return layout;
  const tabs = layout.tabs.map((one) => (one === tab ? { ...tab, active: pane } : one));
  return { tabs, current: tab.id };
}

/** The tab is shown. */
export function shown(layout: Layout, tab: string): Layout {
  return { ...layout, current: tab };
}

export function resized(layout: Layout, split: string, share: number): Layout {
  const resize = (node: Node): Node =>
    node.kind === "split" && node.id === split ? { ...node, share } : node;
  return inTabs(layout, (tab) => ({ ...tab, root: mapped(tab.root, resize) }));
}

/** The pane so many steps after the active one, of its tab; round and round. */
export function paneAfter(layout: Layout, steps: number): string | undefined {
  const tab = currentTab(layout);
  if (!tab) return undefined;
  const ids = panesOf(tab.root).map(({ id }) => id);
  return ids[(ids.indexOf(tab.active) + steps + ids.length) % ids.length];
}

/** The tab so many steps after the one that is shown; round and round. */
export function tabAfter({ tabs, current }: Layout, steps: number): string | undefined {
  const at = tabs.findIndex(({ id }) => id === current);
  return tabs[(at + steps + tabs.length) % tabs.length]?.id;
}

/**
 * This tab of the browser's layout, with what the last one kept has besides it: the terminals of other tabs. `before`: the
 * layout that this one was made of.
 */
export function withOthers(layout: Layout, { before, last }: { before: Layout; last: Layout }): Layout {
  const own = new Set([...allPanes(before), ...allPanes(layout)].map(({ terminal }) => terminal));
  const room = MOST_PANES - allPanes(layout).length;
  const others = allPanes(last).filter(({ terminal }) => !own.has(terminal));
  const kept = new Set(others.slice(0, room));
  const rest = allPanes(last).reduce((all, pane) => (kept.has(pane) ? all : without(all, pane.id)), last);
  const ids = new Set(layout.tabs.map(({ id }) => id));
  const tabs = [
    ...layout.tabs,
    ...rest.tabs.map((tab) => (ids.has(tab.id) ? { ...tab, id: tab.active } : tab)),
  ];
  return { tabs, current: layout.current ?? tabs[0]?.id };
}

/** What may have been kept by any release of the app. */
export function isLayout(value: unknown): value is Layout {
  if (!isFields(value)) return false;
  const { tabs, current } = value;
  return (
    Array.isArray(tabs) &&
    tabs.every(isTab) &&
    tabs.flatMap(({ root }) => panesOf(root)).length <= MOST_PANES &&
    (tabs.length === 0 ? current === undefined : tabs.some(({ id }) => id === current))
  );
}

function isTab(value: unknown): value is Tab {
  if (!isFields(value) || typeof value.id !== "string" || !isNode(value.root, 0)) return false;
  if (value.title !== undefined && typeof value.title !== "string") return false;
  return panesOf(value.root).some(({ id }) => id === value.active);
}

function isNode(value: unknown, depth: number): value is Node {
  if (!isFields(value) || typeof value.id !== "string" || depth > MOST_PANES) return false;
  const { terminal, name, watches } = value;
  if (value.kind === "pane")
    return typeof terminal === "string" && typeof name === "string" && typeof watches === "boolean";
  const { kind, direction, share, first, second } = value;
  const isSplit = kind === "split" && (direction === "horizontal" || direction === "vertical");
  return isSplit && typeof share === "number" && isNode(first, depth + 1) && isNode(second, depth + 1);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function has({ root }: Tab, pane: string): boolean {
  return panesOf(root).some(({ id }) => id === pane);
}

function changed(layout: Layout, pane: string, change: (pane: Pane) => Pane): Layout {
  const only = (node: Node) => (node.kind === "pane" && node.id === pane ? change(node) : node);
  return inTabs(layout, (tab) => ({ ...tab, root: mapped(tab.root, only) }));
}

function inTabs(layout: Layout, change: (tab: Tab) => Tab): Layout {
  return { ...layout, tabs: layout.tabs.map(change) };
}

/** Each node replaced by what `change` makes of it. */
function mapped(node: Node, change: (node: Node) => Node): Node {
  const next = change(node);
  if (next !== node || node.kind === "pane") return next;
  return { ...node, first: mapped(node.first, change), second: mapped(node.second, change) };
}

/** Undefined: nothing is left. */
function removed(node: Node, pane: string): Node | undefined {
  if (node.kind === "pane") return node.id === pane ? undefined : node;
  const first = removed(node.first, pane);
  const second = removed(node.second, pane);
  return first && second ? { ...node, first, second } : (first ?? second);
}
