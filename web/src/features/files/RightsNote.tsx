/** What of the page is not offered to the person, and why. */
import { Text } from "@mantine/core";
import { useWhy } from "../../machine/use-lack.ts";
import type { Right, Rights } from "./use-rights.ts";

const CHANGES = [
  ["upload", "uploading"],
  ["makeFolder", "new folders"],
  ["edit", "editing"],
  ["move", "renaming and moving"],
  ["remove", "deleting"],
] as const satisfies readonly (readonly [Right, string])[];

export function RightsNote({ device, rights }: { device: string; rights: Rights }) {
  const why = useWhy(device);
  const missing = CHANGES.filter(([right]) => !rights[right]).map(([, words]) => words);
  if (missing.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {missing.length === CHANGES.length
        ? `You can look at these files, but not change them: ${why}.`
        : `Not available to you here: ${missing.join(", ")}. Why: ${why}.`}
    </Text>
  );
}
