/** From one tool back to all of them: on a phone the list has a page of its own. */
import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import classes from "./ToolsPage.module.css";

export function BackToTools({ device, machine }: { device: string; machine: string }) {
  return (
    <Link to="/d/$device/tools" params={{ device }} className={classes.back}>
      <IconChevronLeft size={16} aria-hidden />
      All tools of {machine}
    </Link>
  );
}
