/** Paths of a machine, and how they stand in the page's address. */

/** Where the machine begins: the home folder, or the first folder that the person may see. */
export const HOME = "~";
/** How the root stands in the address, whose end would be empty: that is where the machine begins. */
const ROOT = ":";

const DRIVE = /^[a-z]:(?:[\\/]|$)/i;

/** Of what the address has after `/files/`: absolute, or `HOME`. */
export function pathOf(splat: string): string {
  if (splat === "" || splat === HOME) return HOME;
  if (splat === ROOT) return "/";
  return DRIVE.test(splat) ? withSlash(splat) : `/${splat.replace(/\/+$/, "")}`;
}

/** What the address has of a path. */
export function splatOf(path: string): string {
  if (path === HOME) return "";
  if (path === "/") return ROOT;
  return DRIVE.test(path) ? path.replaceAll("\\", "/").replace(/\/$/, "") : path.replace(/^\/+/, "");
}

/** As the page writes them: with slashes, without one at the end, unless that is all of it. */
export function plainPath(path: string): string {
  return pathOf(splatOf(path));
}

/** The folder that somebody means who types this while in that one. */
export function folderMeant(folder: string, text: string): string {
  if (/^~(?:[\\/]|$)/.test(text)) return text;
  return text.startsWith("/") || DRIVE.test(text)
    ? plainPath(text)
    : joined(folder, text.replace(/\/+$/, ""));
}

export function joined(folder: string, name: string): string {
  return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}

/** Undefined: nothing is above it. */
export function parentOf(path: string): string | undefined {
  const steps = stepsTo(path);
  return steps.at(-2)?.path;
}

export function nameOf(path: string): string {
  return stepsTo(path).at(-1)?.name ?? path;
}

export interface Step {
  readonly name: string;
  readonly path: string;
}

/** From the root to the path. */
export function stepsTo(path: string): Step[] {
  const isDrive = DRIVE.test(path);
  const [first = "", ...names] = path.split("/").filter((part, at) => at === 0 || part !== "");
  const root = isDrive ? { name: first, path: `${first}/` } : { name: "/", path: "/" };
  const steps = [root];
  for (const name of names) steps.push({ name, path: joined(steps.at(-1)?.path ?? "/", name) });
  return steps;
}

function withSlash(path: string): string {
  return /^[a-z]:$/i.test(path) ? `${path}/` : path;
}
