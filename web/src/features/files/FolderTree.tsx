/** The folders from the root to the one that is shown, and those beside them. A folder is read when it is opened. */
import { Tree, type TreeNodeData, useTree } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconFolderFilled } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { useQueries } from "../../data/query.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { isFolder, isNamed } from "./entries.ts";
import classes from "./FolderTree.module.css";
import { joined, splatOf, stepsTo } from "./paths.ts";
import { paneStyle, Separator } from "./Separator.tsx";
import { readFolder } from "./use-folder.ts";
import { changeView, useView } from "./view.ts";

/** More would hide where one is. */
const MOST = 300;

interface Props {
  readonly device: string;
  readonly path: string;
  readonly isReachable: boolean;
}

export function FolderTree({ device, path, isReachable }: Props) {
  const navigate = useNavigate();
  const showHidden = useView((view) => view.showHidden);
  const steps = useMemo(() => stepsTo(path), [path]);
  // Whoever closes a folder on the way wants it closed.
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const expandedState = { ...Object.fromEntries(steps.map((step) => [step.path, true])), ...chosen };
  const choose = (folder: string, isOpen: boolean) => setChosen({ ...chosen, [folder]: isOpen });
  const tree = useTree({
    selectedState: [path],
    expandedState,
    onNodeExpand: (folder) => choose(folder, true),
    onNodeCollapse: (folder) => choose(folder, false),
  });
  const opened = Object.keys(tree.expandedState).filter((folder) => tree.expandedState[folder]);
  const queries = useQueries({
    queries: opened.map((folder) => ({
      queryKey: ["folder", device, folder, "tree", showHidden],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readFolder({ device, path: folder, showHidden }, undefined, signal),
      enabled: isReachable,
      // A folder that the person may not see is none of the tree's.
      retry: false,
    })),
  });
  const known = new Map(opened.map((folder, at) => [folder, queries[at]?.data?.entries]));
  const nodeOf = (folder: string, name: string, depth: number): TreeNodeData => {
    const below = known.get(folder)?.filter(isFolder).filter(isNamed).slice(0, MOST) ?? [];
    const next = steps[depth + 1];
    const isOnWay = steps[depth]?.path === folder && next !== undefined;
    // The way to the folder is there, whatever was read.
    const names = new Set([...below.map((entry) => entry.name), ...(isOnWay ? [next.name] : [])]);
    const children = [...names].map((each) => nodeOf(joined(folder, each), each, depth + 1));
    return {
      value: folder,
      label: visibleLine(name),
      ...(known.get(folder) && below.length === 0 && !isOnWay ? {} : { children, hasChildren: true }),
    };
  };
  const [root] = steps;
  const shape = JSON.stringify(root ? [nodeOf(root.path, root.name, 0)] : []);
  // The tree begins anew with other data, so it gets the same as long as they say the same.
  const data = useMemo<TreeNodeData[]>(() => JSON.parse(shape), [shape]);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Also when folders above it were read, which moves it.
    if (shape && path)
      nav.current?.querySelector("[data-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [path, shape]);
  const go = (folder: string) =>
    void navigate({ to: "/d/$device/files/$", params: { device, _splat: splatOf(folder) } });
  const width = useView((view) => view.treeWidth);
  return (
    <>
      <nav
        ref={nav}
        className={classes.tree}
        style={paneStyle(width)}
        aria-label="Folders"
        onKeyDown={({ key, target }) => {
          const folder = target instanceof Element ? target.getAttribute("data-value") : null;
          if (key === "Enter" && folder !== null) go(folder);
        }}
      >
        <Tree
          tree={tree}
          levelOffset={14}
          expandOnClick={false}
          data={data}
          renderNode={({ node, expanded, hasChildren, elementProps }) => {
            const Arrow = expanded ? IconChevronDown : IconChevronRight;
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: the tree has the keys.
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys.
              <div
                {...elementProps}
                className={`${elementProps.className} ${classes.branch}`}
                data-current={node.value === path}
                onClick={() => go(node.value)}
              >
                <Arrow
                  size={14}
                  aria-hidden
                  className={classes.arrow}
                  data-none={!hasChildren}
                  onClick={(event) => {
                    event.stopPropagation();
                    tree.toggleExpanded(node.value);
                  }}
                />
                <IconFolderFilled size={16} className={classes.icon} aria-hidden />
                <bdi className={classes.name}>{node.label}</bdi>
              </div>
            );
          }}
        />
      </nav>
      <Separator
        label="Width of the folders"
        pane={nav}
        side="left"
        className={classes.separator}
        change={(treeWidth) => changeView({ treeWidth })}
      />
    </>
  );
}
