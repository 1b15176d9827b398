/** What it may do, and when a person is asked first. */
import { Checkbox, NativeSelect, Textarea } from "@mantine/core";
import type { Ask } from "./draft.ts";
import classes from "./Fields.module.css";
import type { FieldProps } from "./fields.ts";

const CHOICES: readonly { readonly value: Ask; readonly label: string }[] = [
  { value: "acts", label: "Before files are changed or commands are run" },
  { value: "runs", label: "Before commands are run" },
  { value: "always", label: "Before everything, also reading" },
  { value: "never", label: "Never" },
];

const KEPT = { value: "kept", label: "As it is now, with its own rules" } as const;

interface Props extends FieldProps {
  /** Its questions are not among the usual ones. */
  readonly hasOwnRules?: boolean;
}

export function EffectsField({ draft, change, hasOwnRules = false }: Props) {
  const { writes, runs, ask, network } = draft;
  return (
    <fieldset className={classes.group}>
      <legend>Rights</legend>
      <EffectChoices draft={draft} change={change} />
      {runs && (
        <Textarea
          label="Domains that its commands may reach"
          description="One a line, such as pypi.org or *.example.com. Empty: no network."
          autosize
          minRows={1}
          maxRows={6}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          classNames={{ input: classes.mono ?? "" }}
          value={network}
          onChange={(event) => change({ network: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label="Ask me"
        description={
          writes || runs || ask !== "acts"
            ? "The call waits until you have said yes or no."
            : "It only reads, so there is nothing to ask about."
        }
        data={[...(hasOwnRules ? [KEPT] : []), ...CHOICES]}
        value={ask}
        disabled={!writes && !runs && ask === "acts"}
        onChange={(event) => change({ ask: event.currentTarget.value as Ask })}
      />
    </fieldset>
  );
}

/** Reading is the least that is of use. `isOwner`: it acts as its owner. */
export function EffectChoices({
  draft: { writes, runs },
  change,
  isOwner = false,
}: FieldProps & { readonly isOwner?: boolean }) {
  return (
    <>
      <Checkbox label="Read files and look around" checked disabled readOnly />
      <Checkbox
        label="Change files"
        checked={writes}
        onChange={(event) => change({ writes: event.currentTarget.checked })}
      />
      <Checkbox
        label="Run commands"
        description={isOwner ? "As you, without a sandbox." : "In a sandbox that sees only its folders."}
        checked={runs}
        onChange={(event) => change({ runs: event.currentTarget.checked })}
      />
    </>
  );
}
