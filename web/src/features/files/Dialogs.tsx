/** The page's dialogs: a name for a new folder or an entry, another folder, or a link. */
import { Modal } from "@mantine/core";
import { say } from "../../ui/notices.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { makeFolder, moveAllInto, moveInto, rename } from "./actions.ts";
import { closeDialog, type Dialog, type PlacedAll, useOpen } from "./dialog.ts";
import { NameForm } from "./NameForm.tsx";
import { folderMeant } from "./paths.ts";
import { ShareForm } from "./ShareForm.tsx";
import { inWords } from "./several.ts";
import { beginAt } from "./use-active.ts";

const TITLES: Readonly<Record<Dialog["kind"], string>> = {
  folder: "New folder",
  rename: "Rename",
  move: "Move to another folder",
  share: "Share a link",
};

export function Dialogs() {
  const dialog = useOpen((open) => open.dialog);
  if (!dialog) return null;
  return (
    <Modal
      opened
      onClose={closeDialog}
      title={TITLES[dialog.kind]}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      <Content dialog={dialog} />
    </Modal>
  );
}

function Content({ dialog }: { dialog: Dialog }) {
  const { folder } = dialog;
  if (dialog.kind === "share") return <ShareForm placed={dialog} />;
  if (dialog.kind === "folder")
    return (
      <NameForm
        label="Name of the folder"
        first=""
        yes="Make it"
        work={async (name) => {
          await makeFolder(dialog.device, folder, name);
          beginAt(folder, name);
        }}
      />
    );
  if (dialog.kind === "move") return <MoveForm placed={dialog} />;
  return (
    <NameForm
      label={`New name of ${nameInText(dialog.entry.name)}`}
      first={dialog.entry.name}
      yes="Rename"
      work={(name) => rename(dialog, name)}
    />
  );
}

function MoveForm({ placed }: { placed: PlacedAll }) {
  const { device, folder, entries } = placed;
  const [only] = entries;
  return (
    <NameForm
      label={`Folder for ${inWords(entries)}`}
      first={folder}
      yes="Move"
      work={async (to) => {
        if (!only || entries.length > 1) return void moveAllInto(placed, folderMeant(folder, to));
        await moveInto({ device, folder, entry: only }, folderMeant(folder, to));
        say(`${nameInText(only.name)} was moved.`);
      }}
    />
  );
}
