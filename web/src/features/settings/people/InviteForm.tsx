/** Invites a person to this relay. The link is shown once. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";
import { Form } from "../Form.tsx";
import classes from "../Items.module.css";
import { LinkCard } from "../LinkCard.tsx";
import { refreshInvites } from "./queries.ts";

export function InviteForm({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [made, setMade] = useState<Answer<"POST /v1/invites">>();
  const invite = async () => {
    setMade(await api("POST /v1/invites", { body: { name } }));
    await refreshInvites();
  };
  return (
    <section className={`${classes.more} ${classes.above}`} aria-label="Invite somebody">
      {made ? (
        <>
          <LinkCard
            link={made.link}
            qrSvg={made.qr_svg}
            label="Link of the invite"
            text={`Give this link to ${made.name}. Whoever opens it first gets an account here; it works once, within 7 days.`}
          />
          <Button mt="sm" variant="default" onClick={close}>
            Done
          </Button>
        </>
      ) : (
        <Form submitLabel="Make an invite" work={invite} cancel={close}>
          <TextInput
            label="For whom"
            description="Only you see this name."
            required
            withAsterisk={false}
            maxLength={64}
            autoComplete="off"
            autoFocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </Form>
      )}
    </section>
  );
}
