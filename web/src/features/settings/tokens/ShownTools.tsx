/** Which tools a model is shown when it connects. */

import { Checkbox, NativeSelect } from "@mantine/core";
import { DEFAULT_FAMILIES, familyWords, SHOWN_FAMILIES } from "@matrx/shared/tool-families.ts";
import type { Shown } from "./draft.ts";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

const CHOICES: readonly { readonly value: Shown; readonly label: string }[] = [
  { value: "standard", label: `Standard: ${DEFAULT_FAMILIES.join(", ")}` },
  { value: "all", label: "All tools" },
  { value: "some", label: "Choose families" },
];

export function ShownTools({ draft: { shown, families }, change }: FieldProps) {
  return (
    <div>
      <NativeSelect
        label="Tools shown to the AI"
        description="What it sees when it connects. It can turn on the others that its rights allow."
        data={CHOICES}
        value={shown}
        onChange={(event) => change({ shown: event.currentTarget.value as Shown })}
      />
      {shown === "some" && (
        <Checkbox.Group
          label="Tool families"
          mt="xs"
          value={[...families]}
          onChange={(chosen) => change({ families: chosen })}
        >
          {SHOWN_FAMILIES.map((family) => (
            <Checkbox
              key={family}
              value={family}
              label={capitalized(family)}
              description={`${capitalized(familyWords(family))}.`}
              className={classes.choice}
            />
          ))}
        </Checkbox.Group>
      )}
    </div>
  );
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
