/** The session of the machine whose pages are shown: it outlasts the way from one of them to the next. */
import { onForget } from "../../base/tab-store.ts";
import { useConnection } from "../../relay/connection.ts";
import { register } from "./registration.ts";
import { PageSession, type Ways } from "./session.ts";
import type { PageTool } from "./tool.ts";

/** The next page may have to be loaded, in milliseconds. */
const BETWEEN_PAGES = 10_000;

interface Current {
  readonly session: PageSession;
  /** Pages that show the machine. */
  pages: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** What is offered now. */
  tools: readonly PageTool[];
  withdraw: () => void;
  readonly unsubscribe: () => void;
}

/** How the page goes elsewhere, and how it is told that it went. */
export interface Roads extends Ways {
  onArrival(listener: (path: string) => void): () => void;
}

const nothing = () => undefined;

let current: Current | undefined;

/** For a page of the machine, until `release`. */
export function holdSession(device: string, roads: Roads): { session: PageSession; release: () => void } {
  if (current?.session.device !== device) {
    endSession("Another machine is shown now");
    current = {
      ...{ session: new PageSession(device, roads), pages: 0, timer: undefined },
      ...{ tools: [], withdraw: nothing, unsubscribe: roads.onArrival(wentTo) },
    };
  }
  const held = current;
  held.pages++;
  clearTimeout(held.timer);
  const release = () => {
    held.pages--;
    if (held.pages > 0 || held !== current) return;
    held.timer = setTimeout(() => endSession("The machine's pages were left"), BETWEEN_PAGES);
  };
  return { session: held.session, release };
}

/** Offers these from now on. What runs is not disturbed if they are the same as before. */
export function offerTools(session: PageSession, tools: readonly PageTool[]): void {
  if (current?.session !== session) return;
  const isSame =
    tools.length === current.tools.length && tools.every((tool, at) => tool === current?.tools[at]);
  if (isSame) return;
  current.withdraw();
  Object.assign(current, { tools, withdraw: register(session, tools) });
}

/** The page is elsewhere now: at an address of the machine it goes on. */
function wentTo(path: string): void {
  const [, root, device] = path.split("/");
  if (root === "d" && device === current?.session.device) return;
  endSession("The machine's pages were left");
}

function endSession(why: string): void {
  const ended = current;
  if (!ended) return;
  current = undefined;
  clearTimeout(ended.timer);
  ended.unsubscribe();
  ended.withdraw();
  ended.session.end(why);
}

useConnection.subscribe(({ state }) => {
  if (state === "signed out") endSession("The person is no longer signed in");
});
onForget(() => endSession("The person is no longer signed in"));
