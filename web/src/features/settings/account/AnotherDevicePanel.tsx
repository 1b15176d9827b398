/** Signs in another device: a link that works once, also shown as a QR code, until it expires. */
import { Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { LinkCard } from "../LinkCard.tsx";

type Link = Answer<"POST /v1/sign-in-links">;

export function AnotherDevicePanel() {
  const [made, setMade] = useState<Link>();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!made) return;
    setOver(false);
    const timer = setTimeout(() => setOver(true), made.expires_in * 1000);
    return () => clearTimeout(timer);
  }, [made]);
  const make = async () => setMade(await api("POST /v1/sign-in-links", { body: {} }));
  return (
    <Panel
      title="Sign in another device"
      about="Make a link for your phone or another computer. Whoever opens it first is signed in as you, and can do everything you can do here."
      actions={
        <ActionButton size="sm" variant="default" work={make}>
          Make a link
        </ActionButton>
      }
    >
      {made && !isOver && (
        <LinkCard
          link={made.link}
          qrSvg={made.qr_svg}
          label="Sign-in link"
          text={`Scan it with your phone, or open the link. It works once, within ${Math.round(made.expires_in / 60)} minutes.`}
        />
      )}
      <Text size="sm" role="status">
        {isOver && "That link has expired. Make another one."}
      </Text>
    </Panel>
  );
}
