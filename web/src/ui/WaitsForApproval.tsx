/** What a page waits for until somebody allows it, and where that is decided: in another tab, for leaving this one may withdraw it. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { WAITS } from "./approval-words.ts";

interface Props {
  /** What waits, such as "The picture". */
  readonly children: ReactNode;
}

export function WaitsForApproval(props: Props) {
  return (
    <Text size="sm" role="status">
      <ApprovalWords {...props} />
    </Text>
  );
}

/** The words and the link alone, for what has a status of its own. */
export function ApprovalWords({ children }: Props) {
  return (
    <>
      {children} {WAITS}{" "}
      <Link to="/activity" search={{ show: "needs-you" }} target="_blank" rel="noopener">
        Decide in Activity, in a new tab
      </Link>
    </>
  );
}
