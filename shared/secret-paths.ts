/**
 * Paths that hold secrets, or that run what is written into them. They are closed to every grant that is not the owner's,
 * unless it says otherwise.
 */

const CREDENTIALS = [
  "~/.ssh",
  "~/.gnupg",
  "~/.aws",
  "~/.azure",
  "~/.kube",
  "~/.docker/config.json",
  "~/.config/gcloud",
  "~/.config/gh",
  "~/.config/git/credentials",
  "~/.config/op",
  "~/.config/rclone",
  "~/.git-credentials",
  "~/.netrc",
  "~/_netrc",
  "~/.npmrc",
  "~/.yarnrc.yml",
  "~/.pypirc",
  "~/.pgpass",
  "~/.my.cnf",
  "~/.m2/settings.xml",
  "~/.gradle/gradle.properties",
  "~/.cargo/credentials*",
  "~/.gem/credentials",
  "~/.terraform.d",
  "~/.vault-token",
  "~/.*_history",
  "~/.local/share/fish/fish_history",
  "**/.env",
  "**/.env.*",
  "**/.envrc",
];

const KEY_STORES = [
  "~/.pki",
  "~/.password-store",
  "~/.local/share/keyrings",
  "~/.local/share/kwalletd",
  "~/.electrum",
  "~/.bitcoin",
  "~/.ethereum",
  "~/Library/Keychains",
  "~/AppData/*/Microsoft/Credentials",
  "~/AppData/*/Microsoft/Protect",
  "~/AppData/*/Microsoft/Vault",
  "**/*.kdbx",
  "**/id_rsa",
  "**/id_ecdsa",
  "**/id_ed25519",
];

const BROWSER_PROFILES = [
  "~/.mozilla",
  "~/.thunderbird",
  "~/.config/google-chrome*",
  "~/.config/chromium",
  "~/.config/microsoft-edge*",
  "~/.config/BraveSoftware",
  "~/.config/vivaldi*",
  "~/.config/opera*",
  "~/snap/firefox",
  "~/snap/chromium",
  "~/.var/app/org.mozilla.firefox",
  "~/.var/app/com.google.Chrome",
  "~/.var/app/org.chromium.Chromium",
  "~/Library/Safari",
  "~/Library/Cookies",
  "~/Library/Application Support/Google/Chrome*",
  "~/Library/Application Support/Chromium",
  "~/Library/Application Support/Firefox",
  "~/Library/Application Support/Microsoft Edge*",
  "~/Library/Application Support/BraveSoftware",
  "~/AppData/Local/Google/Chrome*",
  "~/AppData/Local/Chromium",
  "~/AppData/Local/Microsoft/Edge*",
  "~/AppData/Local/BraveSoftware",
  "~/AppData/Roaming/Mozilla",
];

const STARTUP_FILES = [
  "~/.bashrc",
  "~/.bash_profile",
  "~/.bash_login",
  "~/.bash_logout",
  "~/.bash_aliases",
  "~/.profile",
  "~/.zshrc",
  "~/.zshenv",
  "~/.zprofile",
  "~/.zlogin",
  "~/.zlogout",
  "~/.config/fish",
  "~/.xprofile",
  "~/.xsession*",
  "~/.xinitrc",
  "~/.config/autostart",
  "~/.config/systemd",
  "~/.config/environment.d",
  "~/.local/share/systemd",
  "~/.vimrc",
  "~/.gitconfig",
  "~/.config/git",
  "~/Library/LaunchAgents",
  "~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
  "~/Documents/PowerShell",
  "~/Documents/WindowsPowerShell",
  "**/.git/hooks",
  "**/.git/modules/**/hooks",
];

/** What the system keeps to itself: an agent that runs as root could read it. */
const SYSTEM_SECRETS = [
  "/etc/shadow*",
  "/etc/gshadow*",
  "/etc/security/opasswd",
  "/etc/master.passwd",
  "/etc/sudoers*",
  "/etc/krb5.keytab",
  "/etc/ipsec.secrets",
  "/etc/ipsec.d/private",
  "/etc/ppp/*-secrets",
  "/etc/wireguard",
  "/etc/openvpn",
  "/etc/NetworkManager/system-connections",
  "/etc/wpa_supplicant*",
  "/etc/netplan",
  "/etc/letsencrypt",
  "/etc/ssl/private",
  "/etc/pki/tls/private",
  "/etc/credstore*",
  "/etc/kubernetes",
  "/etc/rancher",
  "/var/lib/systemd/credential.secret",
  "/var/lib/NetworkManager/secret_key",
  "/var/lib/kubelet/pki",
  "/var/lib/tailscale",
  "/var/lib/sss",
  "/var/db/dslocal",
  "/Library/Keychains",
  "**/ssh_host_*_key",
  "C:/Windows/System32/config",
];

/** Of relays and agents of Matrx that were started elsewhere on the machine, by other people or for another home. */
const OTHER_MATRX = ["**/.matrx", "**/.config/matrx", "**/.local/share/matrx"];

/** Neither readable nor writable; what is in the home is so in other people's homes too. */
export const SECRET_PATHS: readonly string[] = [
  ...CREDENTIALS,
  ...KEY_STORES,
  ...BROWSER_PROFILES,
  ...STARTUP_FILES,
  ...SYSTEM_SECRETS,
  ...OTHER_MATRX,
];

/** Readable only: programs need them, and what is written there is run later, such as by the owner's own git. */
export const UNCHANGEABLE_PATHS: readonly string[] = [
  "**/.git/config",
  "**/.git/config.worktree",
  "**/.git/modules/**/config",
  // These lead git to another folder with a config of its own.
  "**/.git/commondir",
  "**/.git/modules/**/commondir",
  "**/.git/worktrees/*/commondir",
  "**/.git/worktrees/*/config.worktree",
  // The session's bus and systemd start what is written there.
  "/run/user",
];

/**
 * As `UNCHANGEABLE_PATHS`, but for what a grant names in these places. Shells, desktops, editors and tools of all kinds keep
 * there what they run unasked, and nobody has a list of it.
 */
export const HOME_PATHS: readonly string[] = [
  "~/.*",
  // Named for the links in it: what they lead to is run as well.
  "~/.config/*",
  "~/bin",
  "~/go/bin",
  "~/snap",
  "~/Library",
  "~/AppData",
  "~/NTUSER.*",
  "~/Start Menu",
  "~/OneDrive*/Documents/PowerShell",
  "~/OneDrive*/Documents/WindowsPowerShell",
];

/**
 * As `HOME_PATHS`, of the system: what it starts, loads or trusts lies there, and an agent that runs as root could write it.
 * Elsewhere, a grant for any path may write.
 */
export const SYSTEM_PATHS: readonly string[] = [
  "/etc",
  "/usr",
  "/bin",
  "/sbin",
  "/lib*",
  "/boot",
  "/efi",
  "/nix",
  "/gnu",
  "/snap",
  "/proc",
  "/sys",
  "/run/systemd",
  "/run/udev",
  "/var/spool/cron*",
  "/var/spool/at*",
  "/var/spool/incron*",
  "/var/lib/apt",
  "/var/lib/dpkg",
  "/var/lib/pacman",
  "/var/lib/rpm",
  "/var/lib/snapd",
  "/var/lib/systemd",
  // macOS: `/etc` and `/var` are links into `/private`.
  "/System",
  "/Library",
  "/Applications",
  "/opt/homebrew",
  "/private/etc",
  "/private/var/at",
  "/private/var/db",
  "C:/Windows",
  "C:/Program Files*",
  "C:/ProgramData",
];

/** Not to be changed by file tools. Commands run git, which has to; of a repository they may not change what is listed above. */
export const REPOSITORY_PATHS: readonly string[] = ["**/.git"];
