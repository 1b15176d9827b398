/** The way to what waits for an answer. In a tab of its own: a question is withdrawn when the page that asked it is left. */
import { Link } from "@tanstack/react-router";

export function ApprovalLink() {
  return (
    <Link to="/activity" search={{ show: "needs-you" }} target="_blank" rel="noopener">
      answer it in Activity
    </Link>
  );
}
