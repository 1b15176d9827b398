/** What an own script may do. It is asked nothing. */

import { EffectChoices } from "./EffectsField.tsx";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

export function ScriptEffectsField(props: FieldProps) {
  return (
    <fieldset className={classes.group}>
      <legend>Rights</legend>
      <EffectChoices {...props} isOwner />
    </fieldset>
  );
}
