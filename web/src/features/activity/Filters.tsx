/** Which calls are shown: each choice is an address. */
import { Link } from "@tanstack/react-router";
import type { ActivityFilter } from "./activity-filter.ts";
import classes from "./Filters.module.css";

const LABELS = [
  ["all", "All"],
  ["needs-you", "Needs you"],
  ["running", "Running"],
  ["errors", "Errors"],
] as const;

interface Props {
  readonly counts: Readonly<Record<ActivityFilter, number | undefined>>;
}

export function Filters({ counts }: Props) {
  return (
    <nav className={classes.filters} aria-label="Which calls are shown">
      {LABELS.map(([filter, label]) => {
        const count = counts[filter];
        return (
          <Link
            key={filter}
            to="/activity"
            search={filter === "all" ? {} : { show: filter }}
            replace
            resetScroll={false}
            // It marks itself as the current one.
            activeOptions={{ exact: true }}
            className={classes.filter}
            data-urgent={(filter === "needs-you" && (count ?? 0) > 0) || undefined}
          >
            {label}
            {count !== undefined && <span className={classes.count}>{count}</span>}
          </Link>
        );
      })}
    </nav>
  );
}
