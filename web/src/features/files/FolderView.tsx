/** One folder: the way to it, what is in it, and the file that is looked at. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useConnection } from "../../relay/connection.ts";
import { isOnline } from "../../ui/device-words.ts";
import { usePageTitle } from "../../ui/page-title.ts";
import { useVisibleHeight } from "../../ui/use-visible-height.ts";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import { Beside } from "../workspace/Beside.tsx";
import { PhoneSwitch } from "../workspace/PhoneSwitch.tsx";
import { TerminalControls } from "../workspace/TerminalControls.tsx";
import { useWorkspace } from "../workspace/use-workspace.ts";
import { BatchPanel } from "./BatchPanel.tsx";
import { Crumbs } from "./Crumbs.tsx";
import { Dialogs } from "./Dialogs.tsx";
import { EntryMenu } from "./EntryMenu.tsx";
import { isNotFolder } from "./errors.ts";
import classes from "./Files.module.css";
import { FolderList } from "./FolderList.tsx";
import { FolderTree } from "./FolderTree.tsx";
import { FolderTrouble } from "./FolderTrouble.tsx";
import { usePublishedFolder } from "./mounted.ts";
import { HOME, nameOf, parentOf, plainPath, splatOf } from "./paths.ts";
import { Preview } from "./preview/Preview.tsx";
import { QuestionBar } from "./QuestionBar.tsx";
import { RightsNote } from "./RightsNote.tsx";
import { ToolBar } from "./ToolBar.tsx";
import { UndoBar } from "./UndoBar.tsx";
import { UploadPanel } from "./uploads/UploadPanel.tsx";
import { useFolder } from "./use-folder.ts";
import { useRights } from "./use-rights.ts";
import { useView } from "./view.ts";

interface Props {
  readonly device: DeviceView;
  readonly path: string;
}

export function FolderView({ device, path }: Props) {
  const { file } = useSearch({ from: "/d/$device/files/$" });
  const navigate = useNavigate();
  const showHidden = useView((view) => view.showHidden);
  const isLive = useConnection(({ state }) => state === "online");
  const isReachable = isLive && isOnline(device) && device.paused !== "everyone";
  const rights = useRights(device.id);
  const { folder, query } = useFolder({ device: device.id, path, showHidden }, isReachable);
  const [filter, setFilter] = useState({ path, text: "" });
  const text = filter.path === path ? filter.text : "";
  const page = useRef<HTMLDivElement>(null);
  useVisibleHeight(page);
  const workspace = useWorkspace(device.id, splatOf(path));
  const front = workspace.isOpen && workspace.isPhone ? workspace.front : undefined;
  const name = path === HOME ? "Files" : nameOf(path);
  useEffect(() => {
    usePageTitle.setState({ title: `${visibleLine(file ?? name)} on ${nameInText(device.name)}` });
  }, [file, name, device.name]);
  usePublishedFolder(device.id, path, folder, query);
  useMovedOn({ device: device.id, path, told: folder.path, error: query.error, navigate });
  const retry = () => void query.refetch();
  return (
    <div ref={page} className={classes.page} data-file={file !== undefined} data-front={front}>
      <PhoneSwitch workspace={workspace} />
      <div className={classes.top}>
        <h1 tabIndex={-1} id="page-title" className={classes.title}>
          Files of <bdi>{visibleLine(device.name)}</bdi>
        </h1>
        <Crumbs device={device.id} path={path} />
        <ToolBar
          device={device.id}
          path={path}
          text={text}
          filter={(next) => setFilter({ path, text: next })}
          refresh={retry}
          isReachable={isReachable}
          rights={rights}
        />
        {/* Terminals that the address wants can be closed again. */}
        {device.kind === "agent" && (rights.openTerminal || workspace.isOpen) && (
          <TerminalControls workspace={workspace} />
        )}
      </div>
      <RightsNote device={device.id} rights={rights} />
      <FolderTrouble device={device} isReachable={isReachable} error={query.error} retry={retry} />
      <Beside
        workspace={workspace}
        device={device.id}
        machine={nameInText(device.name)}
        folder={query.error ? undefined : folder.path}
      >
        <div className={classes.panes}>
          {path !== HOME && <FolderTree device={device.id} path={path} isReachable={isReachable} />}
          <div className={classes.middle}>
            {folder.path === undefined && !query.error && isReachable && <Waiting />}
            {folder.path !== undefined && (
              <FolderList key={path} {...{ device: device.id, path, folder, text, isReachable }} />
            )}
          </div>
          {file !== undefined && path !== HOME && (
            <Preview key={`${path}\n${file}`} device={device.id} folder={path} name={file} />
          )}
        </div>
      </Beside>
      <QuestionBar device={device.id} />
      <BatchPanel device={device.id} />
      <UndoBar device={device.id} />
      <UploadPanel device={device.id} />
      <EntryMenu />
      <Dialogs />
    </div>
  );
}

interface Place {
  readonly device: string;
  readonly path: string;
  /** As the machine names it. */
  readonly told: string | undefined;
  readonly error: Error | null;
  readonly navigate: ReturnType<typeof useNavigate>;
}

/** The address of where the machine begins is replaced by the folder's own, and that of a file by its folder's. */
function useMovedOn({ device, path, told, error, navigate }: Place): void {
  useEffect(() => {
    const go = (to: string, search: { file?: string }) =>
      void navigate({
        ...{ to: "/d/$device/files/$", params: { device, _splat: splatOf(to) }, search, replace: true },
      });
    if (path === HOME && told !== undefined) go(plainPath(told), {});
    const above = parentOf(path);
    if (isNotFolder(error) && above !== undefined) go(above, { file: nameOf(path) });
  }, [device, path, told, error, navigate]);
}
