/** Where Linux desktops look for what opens things (XDG base directories, MIME applications, D-Bus activation). */
import path from "node:path";

/** Of the home folder: what the programs of a desktop read and load, and where some of them lie. */
const IN_HOME =
  ".config .local/share .local/share/applications .local/share/dbus-1/services .local/bin .local/lib bin snap .var/app " +
  ".mailcap .mime.types .mozilla .thunderbird .gtkrc-2.0 .kde .kde4 .vim .vimrc .emacs .emacs.d .nix-profile " +
  ".bashrc .bash_profile .profile .zshrc .zshenv .pam_environment .xprofile .xsessionrc";

export function linuxHandlerPlaces(env: NodeJS.ProcessEnv, home: string): string[] {
  const data = [
    ...foldersIn(env.XDG_DATA_HOME),
    ...foldersIn(env.XDG_DATA_DIRS || "/usr/local/share:/usr/share"),
  ];
  const config = [...foldersIn(env.XDG_CONFIG_HOME), ...foldersIn(env.XDG_CONFIG_DIRS || "/etc/xdg")];
  const run = foldersIn(env.XDG_RUNTIME_DIR);
  return [
    ...IN_HOME.split(" ").map((name) => path.posix.join(home, name)),
    ...data.flatMap((folder) => [
      path.posix.join(folder, "applications"),
      path.posix.join(folder, "dbus-1", "services"),
    ]),
    ...config,
    ...run.flatMap((folder) => [path.posix.join(folder, "dbus-1"), path.posix.join(folder, "systemd")]),
    ...foldersIn(env.PATH),
  ];
}

function foldersIn(list = ""): string[] {
  return list.split(":").filter(path.posix.isAbsolute);
}
