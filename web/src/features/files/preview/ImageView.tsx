/** An image: as large as fits, or as large as it is. Its type is what its name says, so that it can be nothing but an image. */
import { Button, Text } from "@mantine/core";
import { IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useQuery } from "../../../data/query.ts";
import { readWhole } from "../../../relay/file-bytes.ts";
import { size as sizeText } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { scrolled } from "../../../ui/scrolled.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import { endingOf, IMAGE_TYPES } from "../kinds.ts";
import { BytesView } from "./BytesView.tsx";
import type { Shown } from "./head.ts";
import classes from "./Preview.module.css";

/** In bytes. */
const MOST = 64 * 1024 * 1024;

export function ImageView({ file, name, head }: Shown) {
  const query = useQuery({
    queryKey: ["file", file.device, file.path, "image", head.etag],
    queryFn: async ({ signal }) => {
      const { bytes } = head.bytes.length >= head.size ? head : await readWhole(file, MOST, signal);
      return new Blob([bytes], { type: IMAGE_TYPES.get(endingOf(name)) ?? "image/png" });
    },
    enabled: head.size <= MOST,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (head.size > MOST)
    return (
      <Text className={classes.words}>
        An image of {sizeText(head.size)} is too large to be shown here. Download it.
      </Text>
    );
  return <Loaded query={query}>{(blob) => <Image blob={blob} name={name} head={head} />}</Loaded>;
}

function Image({ blob, name, head }: Pick<Shown, "name" | "head"> & { readonly blob: Blob }) {
  const [isLarge, setLarge] = useState(false);
  const [size, setSize] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  const address = useAddress(blob);
  if (isBroken) return <BytesView head={head} />;
  const Icon = isLarge ? IconZoomOut : IconZoomIn;
  return (
    <>
      <div className={classes.image} data-large={isLarge} {...scrolled("Image")}>
        {address !== undefined && (
          <img
            src={address}
            alt={visibleLine(name)}
            onError={() => setBroken(true)}
            onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
              setSize(`${width} × ${height}`)
            }
          />
        )}
      </div>
      <div className={classes.foot}>
        <Text size="sm" c="dimmed">
          {size}
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon size={14} aria-hidden />}
          onClick={() => setLarge(!isLarge)}
        >
          {isLarge ? "Fit" : "Full size"}
        </Button>
      </div>
    </>
  );
}

/** What can hold a script gets an address that no tab can be opened at. */
function useAddress(blob: Blob): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (blob.type === "image/svg+xml") {
      let isLeft = false;
      void dataAddress(blob).then((data) => !isLeft && setAddress(data));
      return () => {
        isLeft = true;
      };
    }
    const url = URL.createObjectURL(blob);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  return address;
}

function dataAddress(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsDataURL(blob);
  });
}
