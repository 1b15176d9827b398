/** The frame around every page: navigation, the machine at hand, the connection, and what needs the person. */
import { IconBell, IconSearch } from "@tabler/icons-react";
import { CatchBoundary, Link, Outlet, useMatches } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { useLive, waiting } from "../relay/live.ts";
import { PageError } from "../ui/PageError.tsx";
import { usePageTitle } from "../ui/page-title.ts";
import { Announcer } from "./Announcer.tsx";
import { ConnectionPill } from "./ConnectionPill.tsx";
import { DevicePicker } from "./DevicePicker.tsx";
import { openPalette, usePalette } from "./palette.ts";
import { ADD_PLACE, DEVICE_PLACES, PLACES } from "./places.ts";
import classes from "./Shell.module.css";
import { IS_MAC, useShortcutState } from "./shortcuts.ts";
import { useCurrentDevice } from "./use-current-device.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const Palette = lazy(() =>
  import("./Palette.tsx").then(({ Palette: component }) => ({ default: component })),
);
const ShortcutHelp = lazy(async () => ({ default: (await import("./ShortcutHelp.tsx")).ShortcutHelp }));

export function Shell() {
  const isPaletteOpen = usePalette(({ isOpen }) => isOpen);
  const isHelpOpen = useShortcutState((state) => state.isHelpOpen);
  const page = useMatches().at(-1);
  const path = page?.pathname ?? "";
  useFocusOn(page?.status === "pending" ? undefined : path);
  useWaitingInTitle();
  useShortcuts();
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#main">
        Skip to the content
      </a>
      <SideBar />
      <Header />
      <main id="main" className={classes.main} tabIndex={-1}>
        <CatchBoundary getResetKey={() => path} errorComponent={PageError}>
          <Outlet />
        </CatchBoundary>
      </main>
      <TabBar />
      <Announcer />
      <Suspense>
        {isPaletteOpen && <Palette />}
        {isHelpOpen && <ShortcutHelp />}
      </Suspense>
    </div>
  );
}

function useWaitingInTitle() {
  const count = useLive((live) => waiting(live).length);
  useEffect(() => {
    usePageTitle.setState({ waiting: count });
    return () => usePageTitle.setState({ waiting: 0 });
  }, [count]);
}

/** After a page was changed, screen readers go on at its title. Undefined: the page is still being loaded. */
function useFocusOn(path: string | undefined) {
  useEffect(() => {
    if (path !== undefined) document.getElementById("page-title")?.focus({ preventScroll: true });
  }, [path]);
}

function SideBar() {
  const device = useCurrentDevice();
  return (
    <nav className={classes.sideBar} aria-label="Main">
      <Link to="/fleet" className={classes.brand}>
        <img src="/icon.svg" alt="" width={28} height={28} />
        Matrx Relay
      </Link>
      <DevicePicker />
      {device !== undefined &&
        DEVICE_PLACES.map(({ to, label, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            params={{ device }}
            activeOptions={{ exact: to === "/d/$device" }}
            className={classes.place}
          >
            <Icon size={18} aria-hidden />
            {label}
          </Link>
        ))}
      <div className={classes.group}>All machines</div>
      {PLACES.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} className={classes.place}>
          <Icon size={18} aria-hidden />
          {label}
          {to === "/activity" && <NeedsYouCount />}
        </Link>
      ))}
      <Link to={ADD_PLACE.to} className={`${classes.place} ${classes.last}`}>
        <ADD_PLACE.icon size={18} aria-hidden />
        {ADD_PLACE.label}
      </Link>
    </nav>
  );
}

function NeedsYouCount() {
  const count = useLive((live) => waiting(live).length);
  if (count === 0) return null;
  return (
    <span className={classes.count}>
      {count}
      <span className={classes.unseen}> {count === 1 ? "needs" : "need"} you</span>
    </span>
  );
}

function Header() {
  const count = useLive((live) => waiting(live).length);
  return (
    <header className={classes.header}>
      <div className={classes.onPhone}>
        <DevicePicker />
      </div>
      <button type="button" className={classes.search} onClick={openPalette}>
        <IconSearch size={16} aria-hidden />
        <span>Search or run</span>
        <kbd>{IS_MAC ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <ConnectionPill />
      <Link
        to="/activity"
        search={{ show: "needs-you" }}
        className={classes.bell}
        aria-label={count === 0 ? "Nothing needs you" : `${count} ${count === 1 ? "needs" : "need"} you`}
      >
        <IconBell size={20} aria-hidden />
        {count > 0 && (
          <span className={classes.bellCount} aria-hidden>
            {count}
          </span>
        )}
      </Link>
    </header>
  );
}

function TabBar() {
  const device = useCurrentDevice();
  const [fleet, activity, settings] = PLACES;
  return (
    <nav className={classes.tabBar} aria-label="Main, small screen">
      <Tab place={fleet} />
      {device !== undefined &&
        DEVICE_PLACES.slice(1, 4).map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} params={{ device }} className={classes.tab}>
            <Icon size={22} aria-hidden />
            {label}
          </Link>
        ))}
      <Tab place={activity} />
      <Tab place={settings} />
    </nav>
  );
}

function Tab({ place: { to, label, icon: Icon } }: { place: (typeof PLACES)[number] }) {
  return (
    <Link to={to} className={classes.tab}>
      <Icon size={22} aria-hidden />
      {label}
    </Link>
  );
}
