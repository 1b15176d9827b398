/** JSON as a tree: folded where it is long, and copied as a whole. */
import { useMemo } from "react";
import { CopyButton } from "../CopyButton.tsx";
import { scrolled } from "../scrolled.ts";
import { JsonNode } from "./JsonNode.tsx";
import classes from "./JsonView.module.css";
import { openDepthOf } from "./json-size.ts";

export function JsonView({ value, label = "JSON" }: { value: unknown; label?: string }) {
  const openDepth = useMemo(() => openDepthOf(value), [value]);
  return (
    <div>
      <div className={classes.box} {...scrolled(label)}>
        <JsonNode value={value} depth={0} openDepth={openDepth} />
      </div>
      <CopyButton mt={8} text={() => JSON.stringify(value, undefined, 2)}>
        Copy the JSON
      </CopyButton>
    </div>
  );
}
