/** A picture that a tool returned: as wide as the page, or as large as it is. */
import { Button, Group, Text } from "@mantine/core";
import { IconDownload, IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { useState } from "react";
import { saveFile } from "../save-file.ts";
import { scrolled } from "../scrolled.ts";
import { visibleLine } from "../visible-text.ts";
import classes from "./PictureView.module.css";

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

interface Props {
  readonly type: string;
  readonly base64: string;
  /** Of the file in which it is saved, without its ending. */
  readonly fileName: string;
}

export function PictureView({ type, base64, fileName }: Props) {
  const [isLarge, setLarge] = useState(false);
  const [size, setSize] = useState<{ width: number; height: number }>();
  const [broken, setBroken] = useState<string>();
  const ending = ENDINGS.get(type);
  if (ending === undefined)
    return (
      <Text size="sm" c="dimmed">
        A picture of type {visibleLine(type.slice(0, 100))}, which can't be shown here.
      </Text>
    );
  if (broken === base64)
    return (
      <Text size="sm" c="dimmed">
        This isn't a picture that can be shown here.
      </Text>
    );
  const Icon = isLarge ? IconZoomOut : IconZoomIn;
  return (
    <div>
      <div className={classes.box} data-large={isLarge} {...scrolled("Picture")}>
        <img
          src={`data:${type};base64,${base64}`}
          alt="What the tool returned"
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setSize({ width, height })
          }
          onError={() => setBroken(base64)}
        />
      </div>
      <Group gap="xs" mt={8}>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon size={14} aria-hidden />}
          onClick={() => setLarge(!isLarge)}
        >
          {isLarge ? "Fit to the page" : "Show in full size"}
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => saveFile(`${fileName}.${ending}`, new Blob([bytesOf(base64)], { type }))}
        >
          Save the picture
        </Button>
        {size && (
          <Text size="xs" c="dimmed">
            {size.width} × {size.height}
          </Text>
        )}
      </Group>
    </div>
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
