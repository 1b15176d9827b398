/** The page's dialogs: a name for a new folder or an entry, another folder, or a link. */
import { Modal } from "@mantine/core";
import { say } from "../../ui/notices.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { makeFolder, moveInto, rename } from "./actions.ts";
import { closeDialog, type Dialog, useOpen } from "./dialog.ts";
import { NameForm } from "./NameForm.tsx";
import { plainPath } from "./paths.ts";
import { ShareForm } from "./ShareForm.tsx";
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
  const { entry } = dialog;
  if (dialog.kind === "rename")
    return (
      <NameForm
        label={`New name of ${nameInText(entry.name)}`}
        first={entry.name}
        yes="Rename"
        work={(name) => rename(dialog, name)}
      />
    );
  return (
    <NameForm
      label={`Folder for ${nameInText(entry.name)}`}
      first={folder}
      yes="Move"
      work={async (to) => {
        await moveInto(dialog, plainPath(to));
        say(`${nameInText(entry.name)} was moved.`);
      }}
    />
  );
}
