/** A machine's tags, sent as they are changed. */
import { TagsInput } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { refreshDevices } from "../../data/devices.ts";
import { api } from "../../relay/api.ts";
import { useSent } from "../../ui/use-sent.ts";

export function TagsField({ device: { id, tags = [] } }: { device: DeviceView }) {
  const [chosen, choose] = useSent(
    (next: string[]) => api("PATCH /v1/devices/{device}", { path: { device: id }, body: { tags: next } }),
    refreshDevices,
  );
  return (
    <TagsInput
      label="Tags"
      description="Tokens that were made for a tag reach this machine at once."
      placeholder={tags.length === 0 ? "home, server" : ""}
      maxTags={16}
      value={chosen ?? [...tags]}
      onChange={(next) => choose(next.map((tag) => tag.toLowerCase()))}
    />
  );
}
