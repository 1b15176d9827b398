/** Something is on its way. After a while it says so: a spinner alone may as well turn for ever. */
import { Loader } from "@mantine/core";
import { useEffect, useState } from "react";

/** In milliseconds. */
const SAY_AFTER = 5_000;

export function Waiting() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), SAY_AFTER);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div style={{ display: "flex", alignItems: "center", gap: 12, margin: 16 }}>
      <Loader size="sm" />
      <span role="status" style={{ fontSize: "0.875rem", color: "var(--mantine-color-dimmed)" }}>
        {isLong && "Still waiting for the relay …"}
      </span>
    </div>
  );
}
