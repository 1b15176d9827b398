/** Machines of the same name: nobody may take one for another. */
import type { DeviceView } from "@matrx/shared/api.ts";

type Named = Pick<DeviceView, "id" | "name">;

/** Gives one of `all` the name that it goes by in the app: its own, with its id where others have the same. */
export function tellApart(all: readonly Named[]): <T extends Named>(device: T) => T {
  const words = all.map(({ name }) => alike(name));
  const twice = new Set(words.filter((word, at) => words.indexOf(word) !== at));
  return (device) =>
    twice.has(alike(device.name)) ? { ...device, name: device.name + idAfter(device) } : device;
}

/** The name alone, as it was given. */
export function givenName(device: Named): string {
  const id = idAfter(device);
  return device.name.endsWith(id) ? device.name.slice(0, -id.length) : device.name;
}

function idAfter({ id }: Named): string {
  return ` (${id})`;
}

/** The same for names that look the same. */
function alike(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
