/** The tools by name, with what each does; a filter narrows them. */

import { TextInput } from "@mantine/core";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./ToolsPage.module.css";

export function ToolList({ device, tools }: { device: string; tools: readonly ToolDescription[] }) {
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/);
  const shown = tools
    .filter(({ name, description }) => {
      const said = `${name} ${description}`.toLowerCase();
      return words.every((word) => said.includes(word));
    })
    .toSorted((one, other) => one.name.localeCompare(other.name));
  return (
    <Panel>
      <TextInput
        aria-label="Filter tools"
        placeholder="Filter tools"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul className={classes.list} aria-label="Tools">
        {shown.map(({ name, description, unavailable }) => (
          <li key={name}>
            <Link to="/d/$device/tools/$tool" params={{ device, tool: name }} className={classes.tool}>
              <span className={classes.name}>{name}</span>
              <bdi className={classes.about}>
                {unavailable === undefined ? description : `Can't work now. ${unavailable}`}
              </bdi>
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
