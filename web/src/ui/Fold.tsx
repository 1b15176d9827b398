/** Something that is shown when somebody opens it, and not made before. */
import { type ReactNode, type ToggleEvent, useState } from "react";
import classes from "./Fold.module.css";

interface Props {
  readonly title: ReactNode;
  readonly isOpenFirst?: boolean;
  /** There is something in it that must be seen. */
  readonly mustBeOpen?: boolean;
  readonly children: () => ReactNode;
}

export function Fold({ title, isOpenFirst = false, mustBeOpen = false, children }: Props) {
  const [isWanted, setWanted] = useState(isOpenFirst);
  const isOpen = isWanted || mustBeOpen;
  const onToggle = ({ currentTarget }: ToggleEvent<HTMLDetailsElement>) => {
    if (mustBeOpen) currentTarget.open = true;
    else setWanted(currentTarget.open);
  };
  return (
    <details className={classes.fold} open={isOpen} onToggle={onToggle}>
      <summary>{title}</summary>
      {isOpen && <div className={classes.content}>{children()}</div>}
    </details>
  );
}
