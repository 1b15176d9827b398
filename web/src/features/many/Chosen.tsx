/** Which machines were chosen, and ways to choose others, or another tool. */
import { IconChevronLeft } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { visibleLine } from "../../ui/visible-text.ts";
import toolsClasses from "../tools/ToolsPage.module.css";
import { names } from "./names.ts";
import { select } from "./selection.ts";
import type { Machine } from "./use-machines.ts";

interface Props {
  readonly ids: readonly string[];
  readonly machines: readonly Machine[] | undefined;
  readonly tool: string | undefined;
}

export function Chosen({ ids, machines, tool }: Props) {
  if (ids.length === 0) return "Select them on the page of your machines.";
  const known = machines?.map(({ name }) => visibleLine(name)) ?? ids.map(visibleLine);
  return (
    <>
      {tool !== undefined && (
        <Link to="/fleet/run" search={{ machines: ids.join(",") }} className={toolsClasses.back}>
          <IconChevronLeft size={16} aria-hidden />
          All tools
        </Link>
      )}
      <bdi>{names(known)}</bdi>.{" "}
      <Link to="/fleet" onClick={() => select(ids)}>
        Select other machines
      </Link>
    </>
  );
}
