/** All shortcuts with what they do. */
import { Kbd } from "@mantine/core";
import classes from "./ShortcutList.module.css";
import { IS_MAC, SHORTCUTS } from "./shortcuts.ts";

export function ShortcutList() {
  return (
    <dl className={classes.list}>
      {SHORTCUTS.map(({ keys, label }) => (
        <div key={label} className={classes.shortcut}>
          <dt>{label}</dt>
          <dd>
            {keys.map((key, index) => (
              <span key={key}>
                {index > 0 && <span className={classes.join}>{keys[0] === "Mod" ? " + " : " then "}</span>}
                <Kbd>{nameOf(key)}</Kbd>
              </span>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function nameOf(key: string): string {
  if (key === "Mod") return IS_MAC ? "⌘" : "Ctrl";
  return key.toUpperCase();
}
