/** How many machines are selected, and what can be done with them: at the bottom, on a phone above the tabs. */
import { Button } from "@mantine/core";
import { IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { plural } from "../../ui/format.ts";
import { select } from "../many/selection.ts";
import classes from "./Selection.module.css";

interface Props {
  readonly selected: readonly string[];
  /** How many of them the filter hides. */
  readonly hidden: number;
}

export function SelectionBar({ selected, hidden }: Props) {
  const text = `${plural(selected.length, "machine")} selected${hidden > 0 ? `, ${hidden} of them not shown` : ""}`;
  return (
    <>
      <div className={classes.unseen} role="status">
        {selected.length > 0 && text}
      </div>
      {selected.length > 0 && <div className={classes.room} />}
      {selected.length > 0 && (
        <section className={classes.bar} aria-label="Selected machines">
          <span className={classes.count}>{text}</span>
          <Button variant="subtle" color="gray" onClick={() => select([])}>
            Select none
          </Button>
          <Button
            className={classes.main ?? ""}
            leftSection={<IconTool size={16} aria-hidden />}
            renderRoot={(props) => (
              <Link to="/fleet/run" search={{ machines: selected.join(",") }} {...props} />
            )}
          >
            Run a tool on these
          </Button>
        </section>
      )}
    </>
  );
}
