/** A checkbox with as much room around it as a finger needs. */
import { type ReactNode, useEffect, useRef } from "react";
import box from "../../ui/Checkbox.module.css";
import classes from "./Selection.module.css";

interface Props {
  readonly label: string;
  readonly isOn: boolean;
  /** On for some of what it stands for. */
  readonly isMixed?: boolean;
  readonly change: () => void;
  /** What is seen beside it; its name is `label` all the same. */
  readonly children?: ReactNode;
}

export function Tick({ label, isOn, isMixed = false, change, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current) input.current.indeterminate = isMixed;
  }, [isMixed]);
  return (
    <label className={classes.tick}>
      <input
        ref={input}
        type="checkbox"
        className={box.checkbox}
        aria-label={label}
        checked={isOn}
        onChange={change}
      />
      {children}
    </label>
  );
}
