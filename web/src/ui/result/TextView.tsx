/** The text of an answer, with a terminal's colours. Of a long one the beginning, and more if somebody wants it. */
import { Button, Group, Switch, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { AnsiText } from "../ansi/AnsiText.tsx";
import { AnsiReader } from "../ansi/reader.ts";
import { CopyButton } from "../CopyButton.tsx";
import { withoutColours } from "../output/coloured.ts";
import outputClasses from "../output/Output.module.css";
import { saveFile } from "../save-file.ts";
import { scrolled } from "../scrolled.ts";
import { beginning, blocksOf, FIRST, MORE } from "./cut.ts";

interface Props {
  /** As the machine wrote it. */
  readonly text: string;
  /** The same with colours, if they are known. */
  readonly coloured?: string;
  /** Of the file in which it is saved. */
  readonly fileName: string;
  readonly label?: string;
}

export function TextView({ text, coloured = text, fileName, label = "Output" }: Props) {
  const [shown, setShown] = useState(FIRST);
  const [isWrapped, setWrapped] = useState(false);
  const drawn = useMemo(() => beginning(coloured, shown), [coloured, shown]);
  const blocks = useMemo(() => colouredBlocks(drawn), [drawn]);
  const isCut = drawn.length < coloured.length;
  return (
    <div>
      <pre className={outputClasses.output} data-wrap={isWrapped} {...scrolled(label)}>
        {blocks.map(({ id, segments }) => (
          <span key={id} className={blocks.length > 1 ? outputClasses.block : undefined}>
            <AnsiText segments={segments} />
          </span>
        ))}
      </pre>
      {isCut && (
        <Text size="sm" c="dimmed" mt={6} role="status">
          {`The first ${withoutColours(drawn).length.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters are shown.`}
        </Text>
      )}
      <Group gap="xs" mt={8}>
        <CopyButton text={text}>Copy the text</CopyButton>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => saveFile(fileName, new Blob([text], { type: "text/plain;charset=utf-8" }))}
        >
          Save as a file
        </Button>
        {isCut && (
          <Button size="xs" variant="default" onClick={() => setShown(shown + MORE)}>
            {coloured.length <= shown + MORE ? "Show all" : "Show a million characters more"}
          </Button>
        )}
        <Switch
          size="sm"
          label="Break long lines"
          checked={isWrapped}
          onChange={(event) => setWrapped(event.currentTarget.checked)}
        />
      </Group>
    </div>
  );
}

/** One reader for all: a colour goes on in the next block. */
function colouredBlocks(text: string) {
  const reader = new AnsiReader();
  const blocks = blocksOf(text).map((block, id) => ({ id, segments: reader.read(block) }));
  const rest = reader.end();
  return rest.length === 0 ? blocks : [...blocks, { id: blocks.length, segments: rest }];
}
