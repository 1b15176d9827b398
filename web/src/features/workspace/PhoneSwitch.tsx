/** On a phone, one of both has all of the screen. */
import { SegmentedControl } from "@mantine/core";
import type { FilesWorkspace } from "./use-workspace.ts";
import classes from "./Workspace.module.css";

const CHOICES = [
  { value: "files", label: "Files" },
  { value: "terminal", label: "Terminal" },
] as const;

export function PhoneSwitch({ workspace: { isOpen, isPhone, front, show } }: { workspace: FilesWorkspace }) {
  if (!isOpen || !isPhone) return null;
  return (
    <SegmentedControl
      className={classes.switch}
      fullWidth
      aria-label="Shown"
      data={[...CHOICES]}
      value={front}
      onChange={show}
      transitionDuration={0}
    />
  );
}
