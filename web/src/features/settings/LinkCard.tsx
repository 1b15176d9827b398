/** A link that is shown once, with its QR code. */
import { Button, Text } from "@mantine/core";
import { IconShare2 } from "@tabler/icons-react";
import { OnlyHere } from "../../ui/OnlyHere.tsx";
import classes from "./LinkCard.module.css";
import { Secret } from "./Secret.tsx";

interface Props {
  readonly link: string;
  /** An SVG document. */
  readonly qrSvg: string;
  readonly label: string;
  /** What the link does, for whom, and for how long. */
  readonly text: string;
}

export function LinkCard({ link, qrSvg, label, text }: Props) {
  const send = () => void navigator.share({ url: link }).catch(() => undefined);
  return (
    <div className={classes.card}>
      <img
        className={classes.code}
        src={`data:image/svg+xml,${encodeURIComponent(qrSvg)}`}
        alt={`QR code: ${label}`}
      />
      <div className={classes.words}>
        <Text size="sm" mb="xs">
          {text}
        </Text>
        <OnlyHere who="A phone" />
        <Secret
          label={label}
          text={link}
          actions={
            "share" in navigator && (
              <Button
                variant="default"
                size="sm"
                leftSection={<IconShare2 size={14} aria-hidden />}
                onClick={send}
              >
                Send
              </Button>
            )
          }
        />
      </div>
    </div>
  );
}
