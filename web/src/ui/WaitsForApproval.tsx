/** What a page waits for until somebody allows it, and where that is decided: in another tab, for leaving this one withdraws it. */
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
      <Link to="/activity" search={{ show: "needs-you" }} target="_blank" rel="noopener">
        Decide in Activity, in a new tab
      </Link>
    </Text>
  );
}
