/** The editor, and what becomes of what is typed. */
import { Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useLack } from "../../../machine/use-lack.ts";
import { say } from "../../../ui/notices.ts";
import { Problem } from "../../../ui/Problem.tsx";
import { useWork } from "../../../ui/use-work.ts";
import { nameInText } from "../../../ui/visible-text.ts";
import { isConflict, isNoAnswer } from "../errors.ts";
import { joined, splatOf } from "../paths.ts";
import code from "../preview/Code.module.css";
import { Conflict } from "./Conflict.tsx";
import classes from "./Edit.module.css";
import { useSaveKey } from "./use-save-key.ts";
import { useTextEditor } from "./use-text-editor.ts";
import { readVersion, type Version, writeNew, writeVersion } from "./versions.ts";

interface Props {
  readonly device: string;
  readonly folder: string;
  readonly name: string;
  /** What the editor begins with, and the version that it was made of. */
  readonly version: Version;
  /** It was typed before. */
  readonly hasDraft: boolean;
  /** Begins with another version. */
  readonly begin: (version: Version) => void;
}

export function EditView({ device, folder, name, version, hasDraft, begin }: Props) {
  const path = joined(folder, name);
  const file = { device, path };
  const navigate = useNavigate();
  const lack = useLack(device, "Write");
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Version>();
  const { isBusy, run } = useWork(setError);
  /** Wished for while it was being saved: what was typed meanwhile is saved, too. */
  const isWishedAgain = useRef(false);
  const { box, ...editor } = useTextEditor({ device, path, name, version, hasDraft });
  const look = (at: string) =>
    void navigate({
      to: "/d/$device/files/$",
      params: { device, _splat: splatOf(folder) },
      search: { file: at },
    });

  const saved = (next: Version) => {
    editor.saved(next);
    setTheirs(undefined);
    say(`${nameInText(name)} was saved.`);
    return next;
  };
  const save = async (over = editor.base) => {
    isWishedAgain.current = isBusy;
    if (isBusy) return;
    await run(async () => {
      setError(undefined);
      let last = await saveOver(over);
      while (last && isWishedAgain.current && last.text !== editor.text()) {
        isWishedAgain.current = false;
        last = await saveOver(last.sha256);
      }
    });
    editor.refocus();
  };
  useSaveKey(() => void save());
  /** Undefined: somebody else has changed it meanwhile. */
  const saveOver = async (over: string): Promise<Version | undefined> => {
    const mine = editor.text();
    try {
      return saved(await writeVersion(file, mine, over));
    } catch (refusal) {
      if (!isConflict(refusal)) throw refusal;
      const found = await versionNow();
      // It was saved before, and only the answer was lost.
      if (found.text === mine && found.sha256 !== "") return saved(found);
      setTheirs(found);
      return undefined;
    }
  };
  const versionNow = () =>
    readVersion(file, new AbortController().signal).catch((reason): Version => {
      if (isNoAnswer(reason)) throw reason;
      return GONE;
    });
  const saveAs = async (other: string) => {
    await writeNew({ device, path: joined(folder, other) }, editor.text());
    editor.forget();
    say(`${nameInText(other)} was saved.`);
    look(other);
  };
  const drop = () =>
    run(async () => {
      setError(undefined);
      const found = await versionNow();
      editor.forget();
      if (found === GONE) look(name);
      else begin(found);
    });

  return (
    <>
      {theirs && (
        <Conflict
          name={name}
          mine={editor.text}
          theirs={theirs}
          overwrite={() => save(theirs.sha256)}
          saveAs={saveAs}
          drop={() => void drop()}
        />
      )}
      {lack !== undefined && <Text size="sm">It can't be saved. {lack}</Text>}
      {error !== undefined && <Problem error={error} />}
      <div ref={box} className={`${classes.editor} ${code.code}`} />
      <div className={classes.foot}>
        <Text size="sm" c="dimmed" role="status" className={classes.state}>
          {stateOf(editor)}
        </Text>
        <Group gap={8}>
          {editor.isChanged ? (
            <Button size="xs" variant="default" disabled={isBusy} onClick={() => void drop()}>
              Drop changes
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={() => look(name)}>
              Close editor
            </Button>
          )}
          <Button
            size="xs"
            loading={isBusy}
            disabled={!editor.isChanged || lack !== undefined}
            onClick={() => void save()}
          >
            Save
          </Button>
        </Group>
      </div>
    </>
  );
}

function stateOf({ isChanged, isRoom }: { isChanged: boolean; isRoom: boolean }): string {
  if (!isChanged) return "Saved";
  return isRoom ? "Not saved; kept in this tab" : "Not saved, and too long to be kept";
}

/** The file is not there any more: only under another name it can be saved. */
const GONE: Version = { text: "", sha256: "" };
