/** A share that was given: who has it, what it allows, changing and ending it. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { dateOf } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { Status } from "../../../ui/Status.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import classes from "../Items.module.css";
import { Item } from "../Items.tsx";
import { EditForm } from "../tokens/EditForm.tsx";
import { refreshTokens } from "../tokens/queries.ts";
import { sentenceOf } from "../tokens/token-words.ts";
import { type GivenShare, refreshShares } from "./queries.ts";

export function GivenItem({ share }: { share: GivenShare }) {
  const [isEditing, setEditing] = useState(false);
  const { name, shared_with: guest, created, expires } = share;
  return (
    <Item
      name={name}
      state={
        guest === null ? (
          <Status tone="idle">Not accepted yet</Status>
        ) : (
          <Status tone="info">With {visibleLine(guest)}</Status>
        )
      }
      about={visibleLine(sentenceOf(share))}
      details={[`since ${dateOf(created)}`, `until ${dateOf(expires)}`]}
      actions={
        <>
          <Button
            size="sm"
            variant="default"
            aria-label={`Change ${name}`}
            aria-expanded={isEditing}
            onClick={() => setEditing(!isEditing)}
          >
            Change
          </Button>
          <EndButton share={share} />
        </>
      }
    >
      {isEditing && (
        <div className={classes.more}>
          <EditForm token={share} done={() => setEditing(false)} refresh={refreshShares} />
        </div>
      )}
    </Item>
  );
}

function EndButton({ share: { id, name, shared_with: guest } }: { share: GivenShare }) {
  const end = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    await Promise.all([refreshShares(), refreshTokens()]);
    say(`The share ${name} has ended.`);
  };
  return (
    <ActionButton
      size="sm"
      variant="default"
      aria-label={`End the share ${name}`}
      work={end}
      ask={{
        text:
          guest === null
            ? `End the share ${name}? Its link stops working.`
            : `End the share ${name}? ${guest} is cut off at once.`,
        yes: "End it",
        no: "Keep it",
      }}
    >
      End
    </ActionButton>
  );
}
