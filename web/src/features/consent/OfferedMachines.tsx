/** On which machines: by name, and none unless the person says so. */

import { Checkbox, Text } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "../settings/tokens/Fields.module.css";
import type { FieldProps } from "../settings/tokens/fields.ts";

interface Props extends FieldProps {
  readonly offered: readonly DeviceView[];
  /** The app asks for exactly these. */
  readonly isFixed: boolean;
}

export function OfferedMachines({ draft, change, offered, isFixed }: Props) {
  return (
    <fieldset className={classes.group}>
      <legend>Machines</legend>
      {isFixed && <Text size="sm">The app asks for this one.</Text>}
      <div className={classes.choices}>
        <Checkbox.Group
          role="group"
          aria-label="Machines by name"
          value={[...draft.machines]}
          onChange={(machines) => change({ machines })}
        >
          {offered.map(({ id, name }) => (
            <Checkbox
              key={id}
              value={id}
              disabled={isFixed}
              label={<bdi>{visibleLine(name)}</bdi>}
              className={classes.choice}
            />
          ))}
        </Checkbox.Group>
      </div>
    </fieldset>
  );
}
