/** The editor, and what becomes of what is typed. */
import { Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { say } from "../../../ui/notices.ts";
import { Problem } from "../../../ui/Problem.tsx";
import { useWork } from "../../../ui/use-work.ts";
import { nameInText } from "../../../ui/visible-text.ts";
import { isConflict } from "../errors.ts";
import { joined, splatOf } from "../paths.ts";
import code from "../preview/Code.module.css";
import { Conflict } from "./Conflict.tsx";
import { dropDraft, keepDraft } from "./draft.ts";
import classes from "./Edit.module.css";
import { createEditor, type TextEditor } from "./editor.ts";
import { readVersion, type Version, writeNew, writeVersion } from "./versions.ts";

interface Props {
  readonly device: string;
  readonly folder: string;
  readonly name: string;
  /** What the editor begins with, and the version that it was made of. */
  readonly version: Version;
  /** It was typed before. */
  readonly hasDraft: boolean;
  /** Reads the file anew. */
  readonly again: () => void;
}

/** What is typed is kept this long after the last key, in milliseconds. */
const KEEP_AFTER = 250;

export function EditView({ device, folder, name, version, hasDraft, again }: Props) {
  const path = joined(folder, name);
  const file = { device, path };
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor>(undefined);
  const [base, setBase] = useState(version.sha256);
  const [isChanged, setChanged] = useState(hasDraft);
  const [isRoom, setRoom] = useState(true);
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Version>();
  const { isBusy, run } = useWork(setError);
  const text = () => editor.current?.text() ?? "";
  const close = () =>
    void navigate({
      to: "/d/$device/files/$",
      params: { device, _splat: splatOf(folder) },
      search: { file: name },
    });

  const saved = (next: Version) => {
    setBase(next.sha256);
    setTheirs(undefined);
    setError(undefined);
    // What was typed while it was saved is not in it.
    const isSame = text() === next.text;
    setChanged(!isSame);
    if (isSame) dropDraft(device, path);
    else keepDraft(device, path, { text: text(), base: next.sha256 });
    say(`${nameInText(name)} was saved.`);
  };
  const save = (over = base) =>
    run(async () => {
      setError(undefined);
      try {
        saved(await writeVersion(file, text(), over));
      } catch (refusal) {
        if (!isConflict(refusal)) throw refusal;
        setTheirs(await readVersion(file, new AbortController().signal).catch(() => GONE));
      }
    });
  const saveAs = async (other: string) => {
    await writeNew({ device, path: joined(folder, other) }, text());
    dropDraft(device, path);
    say(`${nameInText(other)} was saved.`);
    void navigate({
      to: "/d/$device/files/$",
      params: { device, _splat: splatOf(folder) },
      search: { file: other },
    });
  };
  const drop = () => {
    dropDraft(device, path);
    again();
  };

  // What the editor calls has to be what is drawn now.
  const latest = useRef({ save, base });
  latest.current = { save, base };
  useEffect(() => {
    if (!box.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = () => {
      clearTimeout(timer);
      timer = undefined;
      setRoom(keepDraft(device, path, { text: made.text(), base: latest.current.base }));
    };
    const made = createEditor(box.current, {
      name,
      text: version.text,
      onSave: () => void latest.current.save(),
      onChange: () => {
        setChanged(true);
        clearTimeout(timer);
        timer = setTimeout(keep, KEEP_AFTER);
      },
    });
    editor.current = made;
    const leave = () => timer !== undefined && keep();
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
      made.destroy();
    };
  }, [device, path, name, version]);

  return (
    <>
      {theirs && (
        <Conflict
          name={name}
          mine={text}
          theirs={theirs}
          overwrite={() => save(theirs.sha256)}
          saveAs={saveAs}
          drop={drop}
        />
      )}
      {error !== undefined && <Problem error={error} />}
      <div ref={box} className={`${classes.editor} ${code.code}`} />
      <div className={classes.foot}>
        <Text size="sm" c="dimmed" role="status" className={classes.state}>
          {isChanged
            ? isRoom
              ? "Not saved; kept in this tab"
              : "Not saved, and too long to be kept"
            : "Saved"}
        </Text>
        <Group gap={8}>
          {isChanged ? (
            <Button size="xs" variant="default" onClick={drop}>
              Drop changes
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={close}>
              Close editor
            </Button>
          )}
          <Button size="xs" loading={isBusy} disabled={!isChanged} onClick={() => void save()}>
            Save
          </Button>
        </Group>
      </div>
    </>
  );
}

/** The file is not there any more: only under another name it can be saved. */
const GONE: Version = { text: "", sha256: "" };
