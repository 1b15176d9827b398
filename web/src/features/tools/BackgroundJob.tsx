/** A command that goes on in the background: ways to read what it writes, and to stop it. */
import { Button, Group } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Tool } from "../../data/tools.ts";
import type { ToolInput } from "../../ui/schema/draft.ts";
import type { Run } from "./run.ts";
import { startRun } from "./running.ts";

interface Props {
  readonly run: Run;
  /** All that the machine has. */
  readonly tools: readonly Tool[];
}

export function BackgroundJob({ run: { device, answer }, tools }: Props) {
  const navigate = useNavigate();
  const { bash_id: job, status } = answer?.metadata ?? {};
  if (typeof job !== "string" || status !== "running") return null;
  const callTool = (name: string, input: ToolInput) => {
    const tool = tools.find((each) => each.name === name);
    if (!tool) return;
    startRun(device, tool, input);
    void navigate({ to: "/d/$device/tools/$tool", params: { device, tool: name } });
  };
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => callTool("BashOutput", { bash_id: job })}>
        Read what it wrote since
      </Button>
      <Button size="xs" variant="default" onClick={() => callTool("TaskStop", { task_id: job })}>
        Stop it
      </Button>
    </Group>
  );
}
