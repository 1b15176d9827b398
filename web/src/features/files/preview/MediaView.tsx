/** Sound and films: the browser fetches what it plays, part by part. */
import { Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { playedAddress } from "../../../data/file-address.ts";
import { readWhole } from "../../../relay/file-bytes.ts";
import { Problem } from "../../../ui/Problem.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import { Waiting } from "../../../ui/Waiting.tsx";
import type { Shown } from "./head.ts";
import classes from "./Preview.module.css";

/** Without the service worker all of it is in memory first, in bytes. */
const MOST_IN_MEMORY = 64 * 1024 * 1024;

export function MediaView({ file, name, head, kind }: Shown & { readonly kind: "audio" | "video" }) {
  const { address, error } = useAddress({ file, head });
  const [isBroken, setBroken] = useState(false);
  const props = { controls: true, src: address, onError: () => setBroken(true) };
  if (error !== undefined) return <Problem error={error} />;
  if (address === undefined) return <Waiting />;
  return (
    <div className={classes.media}>
      {kind === "video" ? (
        <video {...props} aria-label={visibleLine(name)} playsInline />
      ) : (
        <audio {...props} aria-label={visibleLine(name)} />
      )}
      {isBroken && (
        <Text size="sm" role="status">
          It didn't arrive, or this browser can't play this format. Download it to open it elsewhere.
        </Text>
      )}
    </div>
  );
}

/** Where the browser fetches it. */
function useAddress({ file, head }: Pick<Shown, "file" | "head">) {
  const [state, setState] = useState<{ address?: string; error?: unknown }>({});
  const { device, path } = file;
  useEffect(() => {
    const address = playedAddress({ device, path });
    if (address !== undefined) return setState({ address });
    const leaving = new AbortController();
    let url: string | undefined;
    readWhole({ device, path }, MOST_IN_MEMORY, leaving.signal).then(
      ({ bytes }) => {
        if (leaving.signal.aborted) return;
        url = URL.createObjectURL(new Blob([bytes]));
        setState({ address: url });
      },
      (error) =>
        !leaving.signal.aborted && setState({ error: head.size > MOST_IN_MEMORY ? FIRST_VISIT : error }),
    );
    return () => {
      leaving.abort();
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [device, path, head.size]);
  return state;
}

const FIRST_VISIT = Object.assign(
  new Error("This is too large to be played by a page that was opened for the first time."),
  {
    hint: "Reload the page, or download it.",
  },
);
