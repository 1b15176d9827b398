/** What a page waits for until somebody allows it, and where that is decided. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface Props {
  /** What waits, such as "The picture". */
  readonly children: ReactNode;
}

export function WaitsForApproval({ children }: Props) {
  return (
    <Text size="sm" role="status">
      {children} waits for approval. Nothing happens before.{" "}
      <Link to="/activity" search={{ show: "needs-you" }}>
        Decide in Activity
      </Link>
    </Text>
  );
}
