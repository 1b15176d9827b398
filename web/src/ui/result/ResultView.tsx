/** What a tool answered, in the way that shows it best, and in the others if somebody wants them. */
import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import type { CallAnswer } from "../../relay/call-events.ts";
import { useCodeColours } from "../code/use-code-colours.ts";
import { Fold } from "../Fold.tsx";
import { withColours } from "../output/coloured.ts";
import { cardOf } from "./cards.ts";
import { DiffView } from "./DiffView.tsx";
import { JsonView } from "./JsonView.tsx";
import { Parts } from "./Parts.tsx";
import { PictureView } from "./PictureView.tsx";
import { TableView } from "./TableView.tsx";
import { TextView } from "./TextView.tsx";
import { type ViewKind, type Views, viewsOf } from "./views.ts";

const LABELS: Readonly<Record<ViewKind, string>> = {
  text: "Text",
  diff: "Changes",
  table: "Table",
  json: "JSON",
};

export type Result = Pick<CallAnswer, "output" | "image" | "content" | "metadata" | "structured">;

interface Props {
  readonly result: Result;
  /** The tool that returned it; absent: it has no view of its own. */
  readonly tool?: string | undefined;
  /** Of files in which it is saved, without an ending. */
  readonly fileName: string;
  /** All of the live output, if it came: it has colours that the answer lacks. */
  readonly live?: string | undefined;
  /** The file whose text was read, if one was: it has its language's colours. */
  readonly file?: string | undefined;
}

export function ResultView({ result, tool, fileName, live, file }: Props) {
  const { output, image, content = [], metadata = {} } = result;
  const views = useMemo(() => viewsOf(result), [result]);
  const isSaid = output !== "" || views.best !== "text";
  const card = tool === undefined ? undefined : cardOf(tool, metadata);
  const hasParts = Boolean(image) || content.some(({ type }) => type !== "text");
  return (
    <Stack gap="sm">
      {image && <PictureView type={image.media_type} base64={image.base64_data} fileName={fileName} />}
      {card}
      {isSaid && <Said {...{ output, views, fileName, live, file }} />}
      {!isSaid && !hasParts && !card && <Text c="dimmed">No output.</Text>}
      <Parts content={content} fileName={fileName} />
      {Object.keys(metadata).length > 0 && (
        <Fold title="Details for programs">
          {() => <JsonView value={metadata} label="Details for programs" />}
        </Fold>
      )}
    </Stack>
  );
}

interface SaidProps {
  readonly output: string;
  readonly views: Views;
  readonly fileName: string;
  readonly live: string | undefined;
  readonly file: string | undefined;
}

function Said({ output, views: { kinds, best, rows, data }, fileName, live, file }: SaidProps) {
  const [chosen, setChosen] = useState<ViewKind>();
  const kind = chosen && kinds.includes(chosen) ? chosen : best;
  const code = useCodeColours(output, file);
  const coloured = useMemo(() => code ?? withColours(live, output), [code, live, output]);
  return (
    <div>
      {kinds.length > 1 && (
        <SegmentedControl
          size="xs"
          mb="xs"
          aria-label="Show as"
          value={kind}
          onChange={setChosen}
          data={kinds.map((value) => ({ value, label: LABELS[value] }))}
        />
      )}
      {kind === "diff" && <DiffView diff={output} />}
      {kind === "table" && rows && <TableView rows={rows} />}
      {kind === "json" && <JsonView value={data} />}
      {kind === "text" && <TextView text={output} coloured={coloured} fileName={`${fileName}.txt`} />}
    </div>
  );
}
