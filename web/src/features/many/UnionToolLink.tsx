/** A tool in the list: its name, what it does, and on how many of the chosen machines it is. */
import { Link } from "@tanstack/react-router";
import { effectWords } from "../../ui/effect-words.ts";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "../tools/ToolList.module.css";
import type { UnionTool } from "./union.ts";

/** Characters of a description: more do not fit into its lines. */
const SHOWN = 200;

interface Props {
  readonly tool: UnionTool;
  readonly machines: readonly string[];
}

export function UnionToolLink({ tool: { name, title, description, effect, on }, machines }: Props) {
  return (
    <Link
      to="/fleet/run/$tool"
      params={{ tool: name }}
      search={{ machines: machines.join(",") }}
      className={classes.tool}
      title={effectWords(effect).text}
    >
      <span className={classes.head}>
        <span className={classes.name}>{visibleLine(name)}</span>
        <Status tone={on.size === machines.length ? "idle" : "warn"}>
          {on.size === machines.length ? `On all ${on.size}` : `On ${on.size} of ${machines.length}`}
        </Status>
      </span>
      {title !== undefined && <span className={classes.title}>{visibleLine(title)}</span>}
      <bdi className={classes.about}>{description.slice(0, SHOWN).replaceAll("`", "")}</bdi>
    </Link>
  );
}
