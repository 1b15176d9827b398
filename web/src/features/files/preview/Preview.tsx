/** A file that is looked at: beside its folder, or in place of it on a small screen. Only what is shown is read. */
import { ActionIcon, Button } from "@mantine/core";
import { IconDots, IconDownload, IconEdit, IconX } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef } from "react";
import { useQuery } from "../../../data/query.ts";
import { readPiece } from "../../../relay/file-bytes.ts";
import { size as sizeText } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { sayProblem } from "../../../ui/notices.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import { Waiting } from "../../../ui/Waiting.tsx";
import { openMenu } from "../dialog.ts";
import { download } from "../download.ts";
import { isConflict } from "../errors.ts";
import { joined, splatOf } from "../paths.ts";
import { paneStyle, Separator } from "../Separator.tsx";
import { mayEdit } from "../use-entry-actions.ts";
import { useRights } from "../use-rights.ts";
import { changeView, useView } from "../view.ts";
import { Content } from "./Content.tsx";
import type { Head } from "./head.ts";
import classes from "./Preview.module.css";

const EditPane = lazy(async () => ({ default: (await import("../edit/EditPane.tsx")).EditPane }));

/** Of what is read first: most texts are not longer, in bytes. */
export const FIRST = 64 * 1024;

interface Props {
  readonly device: string;
  readonly folder: string;
  readonly name: string;
}

export function Preview({ device, folder, name }: Props) {
  const { edit } = useSearch({ from: "/d/$device/files/$" });
  const navigate = useNavigate();
  const rights = useRights(device);
  const path = joined(folder, name);
  const file = { device, path };
  const query = useQuery({
    queryKey: ["file", device, path, "head"],
    queryFn: ({ signal }): Promise<Head> => readPiece(file, { from: 0, length: FIRST }, signal),
    // What somebody reads does not change under their eyes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    enabled: !edit,
    // A file that is written to now may be at rest a moment later.
    retry: (count, error) => isConflict(error) && count < 3,
    retryDelay: 300,
  });
  const entry = { name, type: "file", size: query.data?.size };
  const placed = { device, folder, entry };
  const go = (search: { file?: string; edit?: true }) =>
    void navigate({ to: "/d/$device/files/$", params: { device, _splat: splatOf(folder) }, search });
  const width = useView((view) => view.fileWidth);
  const pane = useRef<HTMLElement>(null);
  return (
    <>
      <Separator
        label="Width of the file"
        pane={pane}
        side="right"
        className={classes.separator}
        change={(fileWidth) => changeView({ fileWidth })}
      />
      <section ref={pane} className={classes.pane} style={paneStyle(width)} aria-label="File">
        <div className={classes.top}>
          {/* What was pressed has gone. Keys that come before the editor are meant for it. */}
          <h2
            key={edit ? "edit" : "look"}
            ref={takeFocus}
            tabIndex={-1}
            className={classes.title}
            data-own-keys={edit}
          >
            <bdi>{visibleLine(name)}</bdi>
          </h2>
          {query.data && !edit && <span className={classes.size}>{sizeText(query.data.size)}</span>}
          {query.data && !edit && rights.edit && mayEdit(placed) && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconEdit size={14} aria-hidden />}
              onClick={() => go({ file: name, edit: true })}
            >
              Edit
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Download"
            title="Download"
            onClick={() => void download(placed).catch(sayProblem)}
          >
            <IconDownload size={18} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="More actions"
            title="More actions"
            onClick={({ currentTarget }) => {
              const { left, bottom } = currentTarget.getBoundingClientRect();
              openMenu({ device, folder, entries: [entry], x: left, y: bottom });
            }}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Close the file"
            title="Close the file"
            onClick={() => go({})}
          >
            <IconX size={18} aria-hidden />
          </ActionIcon>
        </div>
        {edit ? (
          <Suspense fallback={<Waiting />}>
            <EditPane {...{ device, folder, name }} />
          </Suspense>
        ) : (
          <Loaded query={query}>
            {(head) => (
              <Content
                // Of another version, nothing that was read is kept.
                key={head.etag ?? query.dataUpdatedAt}
                {...{ file, name, head, again: () => void query.refetch() }}
              />
            )}
          </Loaded>
        )}
      </section>
    </>
  );
}

function takeFocus(title: HTMLElement | null): void {
  title?.focus({ preventScroll: true });
}
