/** A part of a whole as a bar with its figure: amber from 80 %, red from 90 %. */
import classes from "./Meter.module.css";

interface Props {
  readonly label: string;
  /** From 0 to 1; undefined: not known. */
  readonly value: number | undefined;
  /** It was told some time ago. */
  readonly isOld?: boolean;
}

export function Meter({ label, value, isOld = false }: Props) {
  const percent = value === undefined ? undefined : Math.round(value * 100);
  const level = percent === undefined || percent < 80 ? "low" : percent < 90 ? "high" : "full";
  return (
    <div className={classes.meter} data-old={isOld || undefined}>
      <div className={classes.words}>
        <span>{label}</span>
        <span className={classes.figure}>{percent === undefined ? "–" : `${percent}%`}</span>
      </div>
      <div className={classes.track} aria-hidden>
        <div className={classes.bar} data-level={level} style={{ width: `${percent ?? 0}%` }} />
      </div>
    </div>
  );
}
