/** New recovery codes, to be kept somewhere else than in this browser. */
import { Button, Text } from "@mantine/core";
import { IconDownload, IconPrinter } from "@tabler/icons-react";
import { saveFile } from "../../../ui/save-file.ts";
import { Secret } from "../Secret.tsx";
import classes from "./RecoveryCodes.module.css";

export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const text = `${codes.join("\n")}\n`;
  const save = () => saveFile("matrx-recovery-codes.txt", new Blob([text], { type: "text/plain" }));
  return (
    <div className={classes.codes}>
      <Text size="sm" my="sm">
        Print them, or write them down: they won't be shown again. Whoever has one is you.
      </Text>
      <Secret
        label="New recovery codes"
        text={text.trim()}
        actions={
          <>
            <Button
              variant="default"
              size="sm"
              leftSection={<IconDownload size={14} aria-hidden />}
              onClick={save}
            >
              Save as a file
            </Button>
            <Button
              variant="default"
              size="sm"
              leftSection={<IconPrinter size={14} aria-hidden />}
              onClick={() => print()}
            >
              Print
            </Button>
          </>
        }
      />
    </div>
  );
}
