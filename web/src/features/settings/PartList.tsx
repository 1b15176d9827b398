/** Ways to the parts of the settings. */
import { IconChevronRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { PARTS } from "./parts.ts";
import classes from "./SettingsPage.module.css";

export function PartList() {
  return (
    <nav className={classes.parts} aria-label="Settings">
      {PARTS.map(({ id, label, about, icon: Icon }) => (
        <Link key={id} to="/settings/$part" params={{ part: id }} className={classes.way}>
          <Icon size={18} aria-hidden />
          <span className={classes.label}>
            {label}
            <span className={classes.about}>{about}</span>
          </span>
          <IconChevronRight size={16} aria-hidden className={classes.chevron} />
        </Link>
      ))}
    </nav>
  );
}
