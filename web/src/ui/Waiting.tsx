/** Something is on its way. After a while it says so: a spinner alone may as well turn for ever. */
import { Loader, Text } from "@mantine/core";
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
      <Text size="sm" c="dimmed" role="status">
        {isLong && "Still waiting for the relay …"}
      </Text>
    </div>
  );
}
