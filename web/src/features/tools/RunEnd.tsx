/** How a call ended: its outcome and what it answered, or what went wrong and what to do. */
import { Group, Stack, Text } from "@mantine/core";
import { firstLineOf } from "../../ui/first-line.ts";
import { clockTime } from "../../ui/format.ts";
import { LiveOutputView } from "../../ui/output/LiveOutputView.tsx";
import { Problem, type Trouble } from "../../ui/Problem.tsx";
import { ResultView } from "../../ui/result/ResultView.tsx";
import { Status } from "../../ui/Status.tsx";
import { leftWords, type Run } from "./run.ts";
import { liveOf } from "./running.ts";

export function RunEnd({ run }: { run: Run }) {
  const { outcome, answer, error, state, tool, began } = run;
  const live = liveOf(run);
  const trouble: Trouble | undefined =
    error ?? (answer?.type === "error" ? { ...answer, message: answer.output } : undefined);
  const { first, rest } = firstLineOf(trouble?.message ?? "");
  const result = answer && (trouble ? { ...answer, output: rest } : answer);
  const isToldByLive = trouble !== undefined && rest === "" && live !== undefined && !live.isEmpty;
  return (
    <Stack gap="sm">
      <Group gap="xs" role="status">
        {outcome && <Status tone={outcome.tone}>{outcome.text}</Status>}
        {outcome?.after && (
          <Text size="sm" c="dimmed">
            {outcome.after}
          </Text>
        )}
        {state === "left" && <Status tone="warn">Not known</Status>}
      </Group>
      {trouble && <Problem error={problemOf(first, trouble)} />}
      {isToldByLive && <LiveOutputView live={live} />}
      {result && (!trouble || rest !== "" || hasMore(run)) && (
        <ResultView
          result={result}
          tool={trouble ? undefined : tool}
          fileName={fileNameOf(tool, began)}
          live={trouble ? undefined : live?.whole}
          file={trouble ? undefined : fileRead(run)}
        />
      )}
      {!answer && !error && (
        <Text size="sm" c="dimmed">
          {state === "left" ? leftWords(run) : "Its answer is no longer here."} It was made at{" "}
          {clockTime(began)}.
        </Text>
      )}
    </Stack>
  );
}

/** Of a long message the first line; the rest is output. */
function problemOf(message: string, { hint, code, hop }: Trouble): Error {
  return Object.assign(new Error(message), {
    hint: hint === undefined ? undefined : `What to do: ${hint}`,
    code,
    hop,
  });
}

function hasMore({ answer }: Run): boolean {
  return Boolean(answer?.image) || Object.keys(answer?.metadata ?? {}).length > 0;
}

/** The file whose text the answer is. */
function fileRead({ tool, input }: Run): string | undefined {
  return tool === "Read" && typeof input.file_path === "string" ? input.file_path : undefined;
}

function fileNameOf(tool: string, began: number): string {
  const time = new Date(began).toISOString().slice(0, 19).replace(/[T:]/g, "-");
  return `${tool.replace(/[^\w-]+/g, "_")}-${time}`;
}
