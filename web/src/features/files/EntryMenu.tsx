/** All that can be done with an entry, at the place where it was asked for. */
import { Menu } from "@mantine/core";
import { useEffect, useRef } from "react";
import { nameInText } from "../../ui/visible-text.ts";
import { closeMenu, useOpen } from "./dialog.ts";
import classes from "./Files.module.css";
import { useEntryActions } from "./use-entry-actions.ts";

export function EntryMenu() {
  const menu = useOpen((open) => open.menu);
  return menu ? <OpenMenu key={`${menu.entry.name} ${menu.x} ${menu.y}`} menu={menu} /> : null;
}

type Opened = NonNullable<ReturnType<typeof useOpen.getState>["menu"]>;

function OpenMenu({ menu }: { menu: Opened }) {
  const { x, y, entry } = menu;
  const actions = useEntryActions(menu);
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
      <Menu.Dropdown aria-label={`Actions for ${nameInText(entry.name)}`}>
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
