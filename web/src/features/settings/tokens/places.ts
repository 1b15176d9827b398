/** Which machines a token is for: all, one, or those with a tag. */
import { useDevices } from "../../../relay/devices.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
}

export function usePlaces(): Choice[] {
  const devices = useDevices().data?.devices ?? [];
  const own = devices.filter(({ shared_by: sharedBy }) => sharedBy === undefined);
  const tags = [...new Set(own.flatMap((device) => device.tags ?? []))].sort();
  return [
    { value: "", label: "All machines" },
    ...own.map(({ id, name }) => ({ value: `device:${id}`, label: name })),
    ...tags.map((tag) => ({ value: `tag:${tag}`, label: `All tagged ${tag}` })),
  ];
}

export function placesOf(choice: string): { tags?: string[]; devices?: string[] } {
  const [kind, ...rest] = choice.split(":");
  const value = rest.join(":");
  if (!value) return {};
  return kind === "tag" ? { tags: [value] } : { devices: [value] };
}

export const DAYS: readonly Choice[] = [1, 7, 30, 90, 365].map((days) => ({
  value: String(days),
  label: days === 1 ? "Tomorrow" : `In ${days} days`,
}));
