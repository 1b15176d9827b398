/** The addresses of the app. Each page is loaded when somebody goes there. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { whenSignedIn } from "../data/use-account.ts";
import { ACTIVITY_FILTERS, type ActivityFilter } from "../features/activity/activity-filter.ts";
import { PageError } from "../ui/PageError.tsx";
import { Waiting } from "../ui/Waiting.tsx";
import { Root } from "./Root.tsx";

/** A page of the app, which whoever is not signed in has no use for. */
function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return lazyRouteComponent(() => whenSignedIn.then(load), name);
}

/** A page of one machine, with its tools for the browser's AI. */
function machinePage<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  const loadBoth = async () => {
    const [{ withPageTools }, pages] = await Promise.all([
      import("../features/page-tools/with-page-tools.tsx"),
      load(),
    ]);
    return { MachinePage: withPageTools(pages[name]) };
  };
  return page(loadBoth, "MachinePage");
}

const root = createRootRoute({
  component: Root,
  notFoundComponent: lazyRouteComponent(() => import("./NotFound.tsx"), "NotFound"),
  errorComponent: PageError,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/fleet", replace: true });
  },
});

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/fleet",
  validateSearch: ({
    text,
    tag,
  }: Record<string, unknown>): { text?: string | undefined; tag?: string | undefined } => ({
    ...(typeof text === "string" && { text }),
    ...(typeof tag === "string" && { tag }),
  }),
  component: page(() => import("../features/fleet/FleetPage.tsx"), "FleetPage"),
});

/** The ids of the machines that a tool is to run on, with commas between. */
const machinesOf = ({ machines }: Record<string, unknown>): { machines?: string } =>
  typeof machines === "string" ? { machines } : {};

const many = createRoute({
  getParentRoute: () => root,
  path: "/fleet/run",
  validateSearch: machinesOf,
  component: page(() => import("../features/many/ManyPage.tsx"), "ManyPage"),
});

const manyTool = createRoute({
  getParentRoute: () => root,
  path: "/fleet/run/$tool",
  validateSearch: machinesOf,
  component: page(() => import("../features/many/ManyPage.tsx"), "ManyPage"),
});

const pair = createRoute({
  getParentRoute: () => root,
  path: "/pair",
  component: page(() => import("../features/pair/PairPage.tsx"), "PairPage"),
});

const device = createRoute({
  getParentRoute: () => root,
  path: "/d/$device",
  component: machinePage(() => import("../features/device/DevicePage.tsx"), "DevicePage"),
});

const tools = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/tools",
  component: machinePage(() => import("../features/tools/ToolsPage.tsx"), "ToolsPage"),
});

const tool = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/tools/$tool",
  component: machinePage(() => import("../features/tools/ToolsPage.tsx"), "ToolsPage"),
});

const terminal = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/terminal",
  component: machinePage(() => import("../features/terminal/TerminalPage.tsx"), "TerminalPage"),
});

const monitor = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/monitor",
  validateSearch: ({ view }: Record<string, unknown>): { view?: "processes" | "connections" } =>
    view === "processes" || view === "connections" ? { view } : {},
  component: machinePage(() => import("../features/monitor/MonitorPage.tsx"), "MonitorPage"),
});

const screen = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/screen",
  component: machinePage(() => import("../features/screen/ScreenPage.tsx"), "ScreenPage"),
});

/** The file that is looked at; and where the terminals are beside the files: they stay there in other folders. */
interface FilesSearch {
  file?: string;
  edit?: true;
  terminal?: string | undefined;
}

const files = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/files/$",
  validateSearch: ({ file, edit, terminal }: Record<string, unknown>): FilesSearch => ({
    ...(typeof file === "string" && { file }),
    ...(edit === true && { edit }),
    ...(typeof terminal === "string" && { terminal }),
  }),
  search: { middlewares: [({ search, next }) => ({ terminal: search.terminal, ...next(search) })] },
  component: machinePage(() => import("../features/files/FilesPage.tsx"), "FilesPage"),
});

const permissions = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/permissions",
  component: page(() => import("../features/permissions/PermissionsPage.tsx"), "PermissionsPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: ({ show }: Record<string, unknown>): { show?: ActivityFilter } => {
    const known = ACTIVITY_FILTERS.find((filter) => filter === show);
    return known === undefined ? {} : { show: known };
  },
  component: page(() => import("../features/activity/ActivityPage.tsx"), "ActivityPage"),
});

const callRecord = createRoute({
  getParentRoute: () => root,
  path: "/d/$device/calls/$call",
  component: page(() => import("../features/activity/CallPage.tsx"), "CallPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: page(() => import("../features/settings/SettingsPage.tsx"), "SettingsPage"),
});

/** What the record shows, and the machine to share. */
interface SettingsSearch {
  machine?: string | undefined;
  token?: string | undefined;
  type?: string | undefined;
  share?: string | undefined;
}

const settingsPart = createRoute({
  getParentRoute: () => root,
  path: "/settings/$part",
  validateSearch: ({ machine, token, type, share }: Record<string, unknown>): SettingsSearch => ({
    ...(typeof machine === "string" && { machine }),
    ...(typeof token === "string" && { token }),
    ...(typeof type === "string" && { type }),
    ...(typeof share === "string" && { share }),
  }),
  component: page(() => import("../features/settings/SettingsPage.tsx"), "SettingsPage"),
});

const reference = createRoute({
  getParentRoute: () => root,
  path: "/docs",
  component: page(() => import("../features/reference/ReferencePage.tsx"), "ReferencePage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    fleet,
    many,
    manyTool,
    pair,
    device,
    tools,
    tool,
    terminal,
    monitor,
    screen,
    files,
    permissions,
    activity,
    callRecord,
    settings,
    settingsPart,
    reference,
  ]),
  defaultPreload: "intent",
  // At the start, neither the frame nor the account waits for the page to be loaded.
  defaultPendingMs: 0,
  defaultPendingComponent: Waiting,
  // In the place of the page that failed: the root's own replaces all of the app.
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

/** When somebody goes on to another page, this one stays for so long while the next is loaded, in milliseconds. */
const PENDING_AFTER = 1_000;
const unsubscribe = router.subscribe("onResolved", () => {
  unsubscribe();
  router.options.defaultPendingMs = PENDING_AFTER;
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
