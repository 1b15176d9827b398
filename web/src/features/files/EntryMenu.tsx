/** All that can be done with an entry, or with those that are chosen, at the place where it was asked for. */
import { Menu } from "@mantine/core";
import { IconSquareCheck } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { closeMenu, type OpenMenu, useOpen } from "./dialog.ts";
import type { Entry } from "./entries.ts";
import classes from "./Files.module.css";
import { inWords } from "./several.ts";
import { useChosenActions } from "./use-chosen-actions.ts";
import { type EntryAction, useEntryActions } from "./use-entry-actions.ts";

export function EntryMenu() {
  const menu = useOpen((open) => open.menu);
  const [only] = menu?.entries ?? [];
  if (!menu || !only) return null;
  const key = `${only.name} ${menu.x} ${menu.y}`;
  return menu.entries.length > 1 ? (
    <MenuOfSeveral key={key} menu={menu} />
  ) : (
    <MenuOfOne key={key} menu={menu} entry={only} />
  );
}

function MenuOfOne({ menu, entry }: { menu: OpenMenu; entry: Entry }) {
  const { device, folder, choose } = menu;
  const actions = useEntryActions({ device, folder, entry });
  const choosing = choose ? [{ label: "Choose", icon: IconSquareCheck, act: choose }] : [];
  return <MenuAt menu={menu} actions={actions.toSpliced(1, 0, ...choosing)} />;
}

function MenuOfSeveral({ menu }: { menu: OpenMenu }) {
  return <MenuAt menu={menu} actions={useChosenActions(menu)} />;
}

function MenuAt({ menu, actions }: { menu: OpenMenu; actions: readonly EntryAction[] }) {
  const { x, y, entries } = menu;
  const opener = useRef(document.activeElement);
  useEffect(() => {
    const { current } = opener;
    // A dialog that an action opens has the focus to itself.
    return () => {
      if (current instanceof HTMLElement && !useOpen.getState().dialog)
        current.focus({ preventScroll: true });
    };
  }, []);
  return (
    <Menu
      opened
      onClose={closeMenu}
      position="bottom-start"
      offset={0}
      withinPortal={false}
      floatingStrategy="fixed"
      // Where it is too long for the room below, it moves up.
      middlewares={{ flip: true, shift: { crossAxis: true, padding: 8 } }}
      withInitialFocusPlaceholder={false}
      // Neither the key that opens it closes it, nor what browsers make of a finger that is lifted.
      clickOutsideEvents={["pointerdown"]}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
      menuItemTabIndex={0}
      trapFocus
    >
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          aria-label="Place of the menu"
          className={classes.menuPlace}
          style={{ left: x, top: y }}
        />
      </Menu.Target>
      <Menu.Dropdown className={classes.menu} aria-label={`Actions for ${inWords(entries)}`}>
        {actions.map(({ label, icon: Icon, isRed, act }) => (
          <Menu.Item
            key={label}
            leftSection={<Icon size={16} aria-hidden />}
            {...(isRed && { color: "var(--bad)" })}
            onClick={act}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
