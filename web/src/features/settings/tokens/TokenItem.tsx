/** A token in the list: what it is, what it may do, and what can be done with it. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { ago, dateOf } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { Status } from "../../../ui/Status.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import classes from "../Items.module.css";
import { Item } from "../Items.tsx";
import { EditForm } from "./EditForm.tsx";
import { refreshTokens, type Token } from "./queries.ts";
import { TokenDetails } from "./TokenDetails.tsx";
import { endsSoon, kindOf, sentenceOf, toneOf } from "./token-words.ts";

export function TokenItem({ token }: { token: Token }) {
  const [open, setOpen] = useState<"details" | "edit">();
  const { name, created, expires } = token;
  const toggle = (what: "details" | "edit") => setOpen(open === what ? undefined : what);
  return (
    <Item
      name={name}
      state={
        <>
          <Status tone={toneOf(token)}>{visibleLine(kindOf(token))}</Status>
          {endsSoon(token) && <Status tone="warn">Ends {ago(expires)}</Status>}
        </>
      }
      about={visibleLine(sentenceOf(token))}
      details={[`since ${dateOf(created)}`, `until ${dateOf(expires)}`]}
      actions={
        <>
          <Button
            size="sm"
            variant="default"
            aria-expanded={open === "details"}
            aria-label={`Details of ${name}`}
            onClick={() => toggle("details")}
          >
            Details
          </Button>
          <Button
            size="sm"
            variant="default"
            aria-expanded={open === "edit"}
            aria-label={`Change ${name}`}
            onClick={() => toggle("edit")}
          >
            Change
          </Button>
          <RevokeButton token={token} />
        </>
      }
    >
      {open === "details" && (
        <div className={classes.more}>
          <TokenDetails token={token} />
        </div>
      )}
      {open === "edit" && (
        <div className={classes.more}>
          <EditForm token={token} done={() => setOpen(undefined)} />
        </div>
      )}
    </Item>
  );
}

function RevokeButton({ token: { id, name } }: { token: Token }) {
  const revoke = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    await refreshTokens();
    say(`${name} was revoked.`);
  };
  return (
    <ActionButton
      size="sm"
      variant="default"
      aria-label={`Revoke ${name}`}
      work={revoke}
      ask={{
        text: `Revoke ${name}? Anyone using it is cut off at once, and its running calls are stopped.`,
        yes: "Revoke it",
        no: "Keep it",
      }}
    >
      Revoke
    </ActionButton>
  );
}
