/** Tags to choose one from; nothing where no machine has any. */
import { Button, Group } from "@mantine/core";

interface Props {
  readonly tags: readonly string[];
  readonly chosen: string | undefined;
  readonly choose: (tag: string | undefined) => void;
}

export function TagFilter({ tags, chosen, choose }: Props) {
  if (tags.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Tags">
      {tags.map((tag) => (
        <Button
          key={tag}
          size="compact-sm"
          variant={tag === chosen ? "filled" : "default"}
          aria-pressed={tag === chosen}
          onClick={() => choose(tag === chosen ? undefined : tag)}
        >
          {tag}
        </Button>
      ))}
    </Group>
  );
}
