/** Files on their way to machines. They go on while the person is on other pages of the app. */
import { create } from "zustand";
import { dropInTab, keepInTab, keptInTab, onForget } from "../../../base/tab-store.ts";
import { plural } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { joined, parentOf } from "../paths.ts";
import { forgetFolder } from "../use-folder.ts";
import { areUploads, isGoing, isOpen, type Upload } from "./item.ts";
import { withSample } from "./speed.ts";
import { discard, type Transfer, transfer } from "./transfer.ts";

/** A folder may have many files: more at once would make the page slow. */
export const MOST = 5_000;
/** Files that are sent at the same time. */
const AT_ONCE = 2;
/** What broke is tried again after this long, in milliseconds. */
const AGAIN = 10_000;
const KEPT = "uploads";

interface Queue {
  readonly uploads: readonly Upload[];
  /** Of all that was sent since the page was opened. */
  readonly samples: readonly { at: number; bytes: number }[];
}

export const useQueue = create<Queue>(() => ({ uploads: lastKept(), samples: [] }));

/** What the browser gives of them, until the page is closed. */
const files = new Map<string, File>();
const running = new Map<string, Transfer>();
let sentBytes = 0;

export interface Picked {
  /** Below the folder. */
  readonly name: string;
  readonly file: File;
}

/** Adds files, or goes on with those that were lost when the page was loaded again. Returns how many there is no room for. */
export function addUploads(device: string, folder: string, picked: readonly Picked[]): number {
  const added: Upload[] = [];
  const room = MOST - useQueue.getState().uploads.filter(isOpen).length;
  for (const { name, file } of picked) {
    const lost = useQueue.getState().uploads.find((one) => isSame(one, device, { name, file }));
    const id = lost?.id ?? crypto.randomUUID();
    if (!lost && added.length >= room) continue;
    files.set(id, file);
    if (lost) change(id, { state: "waiting" });
    else
      added.push({
        ...{ id, device, folder, name, size: file.size, modified: file.lastModified },
        ...{ state: "waiting", sent: 0, mayReplace: false },
      });
  }
  useQueue.setState(({ uploads }) => ({ uploads: [...uploads, ...added] }));
  go();
  return picked.length - added.length - picked.filter(({ file }) => isKnown(file, added)).length;
}

function isKnown(file: File, added: readonly Upload[]): boolean {
  return useQueue.getState().uploads.some((one) => files.get(one.id) === file && !added.includes(one));
}

/** The same file again, for one that waits for it. */
function isSame(upload: Upload, device: string, { name, file }: Picked): boolean {
  const { state, size, modified } = upload;
  const isName = upload.name === name || upload.name.endsWith(`/${name}`);
  return (
    state === "lost" &&
    upload.device === device &&
    isName &&
    size === file.size &&
    modified === file.lastModified
  );
}

/** Each only if it can be; `ids`: those that are meant. */
export function pause(ids: readonly string[]): void {
  for (const { id } of chosen(ids).filter(isGoing)) {
    running.get(id)?.pause();
    running.delete(id);
    change(id, { state: "paused" });
  }
  go();
}

export function resume(ids: readonly string[]): void {
  for (const { id, state } of chosen(ids))
    if (state === "paused" || state === "broken" || state === "failed")
      change(id, { state: files.has(id) ? "waiting" : "lost", error: undefined });
  go();
}

/** Gives them up: what has arrived is removed. */
export function cancel(ids: readonly string[]): void {
  for (const { id, url } of chosen(ids)) {
    const transfer = running.get(id);
    if (transfer) transfer.cancel();
    else if (url !== undefined) discard(url);
    running.delete(id);
    files.delete(id);
  }
  useQueue.setState(({ uploads }) => ({ uploads: uploads.filter(({ id }) => !ids.includes(id)) }));
  go();
}

/** What to do with files whose names are taken. */
export function decide(ids: readonly string[], decision: "replace" | "keep both" | "skip"): void {
  if (decision === "skip") return cancel(ids);
  for (const { id } of chosen(ids))
    change(id, {
      state: "waiting",
      ...(decision === "replace" ? { mayReplace: true } : { keepBoth: 2 }),
    });
  go();
}

/** Takes those that are over from the list. */
export function clearEnded(): void {
  useQueue.setState(({ uploads }) => ({ uploads: uploads.filter(isOpen) }));
  keep();
}

function chosen(ids: readonly string[]): Upload[] {
  return useQueue.getState().uploads.filter(({ id }) => ids.includes(id));
}

function change(id: string, changes: Partial<Upload>): void {
  useQueue.setState(({ uploads }) => ({
    uploads: uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)),
  }));
}

/** Begins what may begin. */
function go(): void {
  for (const upload of useQueue.getState().uploads) {
    if (running.size >= AT_ONCE) break;
    const file = files.get(upload.id);
    if (upload.state === "waiting" && file) begin(upload, file);
  }
  keep();
}

function begin(upload: Upload, file: File): void {
  const { id } = upload;
  let before = upload.sent;
  change(id, { state: "running", error: undefined });
  const over = (changes: Partial<Upload>) => {
    running.delete(id);
    change(id, changes);
    go();
  };
  running.set(
    id,
    transfer(upload, file, {
      onPlace: (url) => {
        change(id, { url });
        keep();
      },
      onSent: (sent) => {
        sentBytes += Math.max(0, sent - before);
        before = sent;
        change(id, { sent });
        note();
      },
      onDone: () => {
        files.delete(id);
        over({ state: "done", sent: upload.size, url: undefined });
        shown(upload);
        sayEnd();
      },
      onTaken: () => {
        const { keepBoth } = upload;
        if (keepBoth === undefined) over({ state: "asking", url: undefined, sent: 0 });
        else over({ state: "waiting", url: undefined, sent: 0, keepBoth: keepBoth + 1 });
      },
      onBroken: (error) => {
        over({ state: "broken", error });
        setTimeout(() => {
          if (chosen([id])[0]?.state === "broken") resume([id]);
        }, AGAIN);
      },
      onFailed: (error) => over({ state: "failed", error }),
    }),
  );
}

function note(): void {
  const sample = { at: performance.now(), bytes: sentBytes };
  useQueue.setState(({ samples }) => ({ samples: withSample(samples, sample) }));
}

/** For whoever is on another page. */
function sayEnd(): void {
  const { uploads } = useQueue.getState();
  if (uploads.some(isGoing) || FILES_PAGE.test(location.pathname)) return;
  say(`${plural(uploads.filter(({ state }) => state === "done").length, "file")} uploaded.`);
}

const FILES_PAGE = /^\/d\/[^/]+\/files(?:\/|$)/;

/** Uploads whose folders are to be read anew. */
let arrived: Upload[] = [];
/** Folders are read anew, but not for each of a thousand files. */
function shown(upload: Upload): void {
  arrived.push(upload);
  if (arrived.length > 1) return;
  setTimeout(() => {
    const folders = arrived.flatMap(({ device, folder, name }) =>
      [folder, parentOf(joined(folder, name)) ?? folder].map((path) => ({ device, path })),
    );
    arrived = [];
    const each = new Map(folders.map((one) => [`${one.device} ${one.path}`, one]));
    for (const { device, path } of each.values()) forgetFolder(device, path);
  }, 300);
}

/** So that they can go on when the page is loaded again. */
function keep(): void {
  const open = useQueue.getState().uploads.filter(isOpen);
  if (open.length === 0) dropInTab(KEPT);
  else keepInTab(KEPT, open);
}

function lastKept(): Upload[] {
  return (keptInTab(KEPT, areUploads) ?? []).map((upload) => ({ ...upload, state: "lost" }));
}

addEventListener("beforeunload", (event) => {
  if (useQueue.getState().uploads.some(isGoing)) event.preventDefault();
});

onForget(() => {
  for (const one of running.values()) one.pause();
  running.clear();
  files.clear();
  useQueue.setState({ uploads: [], samples: [] });
});
