/** On which machines: those that are named, by tag, or all of them. */
import { Checkbox, Radio, Stack, Text } from "@mantine/core";
import { visibleLine } from "../../../ui/visible-text.ts";
import { useOwnMachines } from "../own-machines.ts";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

interface Props extends FieldProps {
  /** A share names its machines. */
  readonly canBeAll?: boolean;
}

export function MachinesField({ draft, change, canBeAll = true }: Props) {
  const { allMachines, machines, tags } = draft;
  const own = useOwnMachines();
  const unknown = machines.filter((id) => !own.some((device) => device.id === id));
  const known = [...new Set([...own.flatMap((device) => device.tags ?? []), ...tags])].sort();
  return (
    <fieldset className={classes.group}>
      <legend>Machines</legend>
      {canBeAll && (
        <Radio.Group
          role="group"
          aria-label="Which machines"
          value={allMachines ? "all" : "some"}
          onChange={(value) => change({ allMachines: value === "all" })}
        >
          <Stack gap="xs">
            <Radio value="all" label="All my machines" description="Also those that you add later." />
            <Radio value="some" label="Only these" />
          </Stack>
        </Radio.Group>
      )}
      {!allMachines && (
        <div className={classes.choices} data-inner={canBeAll || undefined}>
          <Checkbox.Group
            role="group"
            aria-label="Machines by name"
            value={[...machines]}
            onChange={(chosen) => change({ machines: chosen })}
          >
            {own.map(({ id, name }) => (
              <Checkbox
                key={id}
                value={id}
                label={<bdi>{visibleLine(name)}</bdi>}
                className={classes.choice}
              />
            ))}
            {unknown.map((id) => (
              <Checkbox key={id} value={id} label={`${id} (removed)`} className={classes.choice} />
            ))}
          </Checkbox.Group>
          {own.length === 0 && <Text size="sm">You have no machine of your own yet.</Text>}
          {known.length > 0 && (
            <Checkbox.Group
              role="group"
              aria-label="Machines by tag"
              value={[...tags]}
              onChange={(chosen) => change({ tags: chosen })}
            >
              {known.map((tag) => (
                <Checkbox key={tag} value={tag} label={`All tagged ${tag}`} className={classes.choice} />
              ))}
            </Checkbox.Group>
          )}
        </div>
      )}
    </fieldset>
  );
}
