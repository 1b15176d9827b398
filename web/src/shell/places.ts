/** The places of the app, as its navigation and its palette show them. */
import {
  IconActivity,
  IconActivityHeartbeat,
  IconBook,
  IconCamera,
  IconDeviceDesktop,
  IconFolder,
  IconGauge,
  IconPlus,
  IconSettings,
  IconShieldCheck,
  IconTerminal2,
  IconTool,
} from "@tabler/icons-react";

/** Of one machine; `$device` is filled in. */
export const DEVICE_PLACES = [
  { to: "/d/$device", label: "Overview", icon: IconGauge },
  { to: "/d/$device/tools", label: "Tools", icon: IconTool },
  { to: "/d/$device/terminal", label: "Terminal", icon: IconTerminal2 },
  { to: "/d/$device/files/$", label: "Files", icon: IconFolder },
  { to: "/d/$device/monitor", label: "Monitor", icon: IconActivityHeartbeat },
  { to: "/d/$device/screen", label: "Screen", icon: IconCamera },
  { to: "/d/$device/permissions", label: "Permissions", icon: IconShieldCheck },
] as const;

/** Of all machines. */
export const PLACES = [
  { to: "/fleet", label: "Machines", icon: IconDeviceDesktop },
  { to: "/activity", label: "Activity", icon: IconActivity },
  { to: "/settings", label: "Settings", icon: IconSettings },
] as const;

export const ADD_PLACE = { to: "/pair", label: "Add a machine", icon: IconPlus } as const;

export const REFERENCE_PLACE = { to: "/docs", label: "Reference for programs", icon: IconBook } as const;
