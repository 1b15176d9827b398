/** The parts of the settings, in the order of their list. Each is loaded when somebody goes there. */
import {
  IconBell,
  IconHistory,
  IconInfoCircle,
  IconKey,
  IconKeyboard,
  IconPalette,
  IconPlugConnected,
  IconUser,
  IconUsers,
} from "@tabler/icons-react";
import { type ComponentType, lazy } from "react";

export interface Part {
  /** In the address. */
  readonly id: string;
  readonly label: string;
  /** What is found there, in a few words. */
  readonly about: string;
  readonly icon: ComponentType<{ size: number; "aria-hidden": true }>;
  readonly Content: ComponentType;
}

export const PARTS: readonly Part[] = [
  {
    id: "account",
    label: "Account",
    about: "Your name, passkeys, recovery codes, where you are signed in",
    icon: IconUser,
    Content: lazy(async () => ({ default: (await import("./account/AccountPart.tsx")).AccountPart })),
  },
  {
    id: "tokens",
    label: "AI and tokens",
    about: "AI apps and programs that may use your machines",
    icon: IconKey,
    Content: lazy(async () => ({ default: (await import("./tokens/TokensPart.tsx")).TokensPart })),
  },
  {
    id: "people",
    label: "People",
    about: "What you share, what others share with you, accounts on this relay",
    icon: IconUsers,
    Content: lazy(async () => ({ default: (await import("./people/PeoplePart.tsx")).PeoplePart })),
  },
  {
    id: "record",
    label: "Record",
    about: "Who did what on which machine, verified and saved",
    icon: IconHistory,
    Content: lazy(async () => ({ default: (await import("./record/RecordPart.tsx")).RecordPart })),
  },
  {
    id: "notifications",
    label: "Notifications",
    about: "What this browser tells you, and when it is quiet",
    icon: IconBell,
    Content: lazy(async () => ({ default: (await import("./NotificationsPart.tsx")).NotificationsPart })),
  },
  {
    id: "connection",
    label: "Connection",
    about: "Through the relay, or directly to this computer",
    icon: IconPlugConnected,
    Content: lazy(async () => ({
      default: (await import("./connection/ConnectionPart.tsx")).ConnectionPart,
    })),
  },
  {
    id: "appearance",
    label: "Appearance",
    about: "Dark or light, and how large",
    icon: IconPalette,
    Content: lazy(async () => ({ default: (await import("./AppearancePart.tsx")).AppearancePart })),
  },
  {
    id: "shortcuts",
    label: "Shortcuts",
    about: "What the keyboard does here",
    icon: IconKeyboard,
    Content: lazy(async () => ({ default: (await import("./ShortcutsPart.tsx")).ShortcutsPart })),
  },
  {
    id: "about",
    label: "About",
    about: "Versions, reference, licence",
    icon: IconInfoCircle,
    Content: lazy(async () => ({ default: (await import("./AboutPart.tsx")).AboutPart })),
  },
];
