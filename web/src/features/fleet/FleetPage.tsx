/** All machines of the account, with what can be done on several of them. */
import { Button, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useDevices } from "../../data/devices.ts";
import { useLocalDevice } from "../../direct/local.ts";
import { useConnection } from "../../relay/connection.ts";
import { isOnline } from "../../ui/device-words.ts";
import { clockTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { LastBatch } from "../many/LastBatch.tsx";
import { useSelection } from "../many/selection.ts";
import { EmptyFleet } from "./EmptyFleet.tsx";
import classes from "./FleetPage.module.css";
import { fits, tagsOf } from "./filter.ts";
import { MachineCard } from "./MachineCard.tsx";
import { SelectionBar } from "./SelectionBar.tsx";
import { SelectShown } from "./SelectShown.tsx";
import { TagFilter } from "./TagFilter.tsx";

export function FleetPage() {
  const query = useDevices();
  const { text = "", tag } = useSearch({ from: "/fleet" });
  const navigate = useNavigate({ from: "/fleet" });
  const isLive = useConnection(({ state }) => state === "online");
  const local = useLocalDevice();
  const devices = query.data?.devices ?? [];
  const online = devices.filter(isOnline).length;
  const selected = useSelection(({ ids }) => ids).filter((id) => devices.some((device) => device.id === id));
  const shown = devices.filter((device) => fits(device, { text, tag }));
  const hidden = selected.filter((id) => !shown.some((device) => device.id === id)).length;
  const canBeSelected = devices.length > 1;
  const here = local && fits(local, { text, tag }) ? local : undefined;
  // Its line is kept free: nothing moves when the answer comes.
  const known = devices.length === 0 ? undefined : `${online} of ${devices.length} online`;
  const about = query.data || query.error ? known : "\u00a0";
  return (
    <Page
      title="Your machines"
      about={isLive || !about ? about : `As of ${clockTime(query.dataUpdatedAt)}: ${about}`}
      actions={
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          renderRoot={(props) => <Link to="/pair" {...props} />}
        >
          Add a machine
        </Button>
      }
    >
      {devices.length > 3 && (
        <TextInput
          aria-label="Filter machines"
          placeholder="Filter by name, system or tag"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: (before) => ({ ...before, text: value || undefined }), replace: true })
          }
        />
      )}
      <TagFilter
        tags={tagsOf(devices)}
        chosen={tag}
        choose={(chosen) =>
          void navigate({ search: (before) => ({ ...before, tag: chosen }), replace: true })
        }
      />
      {canBeSelected && <SelectShown shown={shown} />}
      <LastBatch />
      {here && !query.data && (
        <ul className={classes.cards}>
          <MachineCard device={here} isLive canBeSelected={false} />
        </ul>
      )}
      <Loaded query={query}>
        {({ unreadable = [] }) =>
          devices.length + unreadable.length === 0 && !local ? (
            <EmptyFleet />
          ) : (
            <ul className={classes.cards}>
              {here && <MachineCard device={here} isLive canBeSelected={false} />}
              {shown.map((device) => (
                <MachineCard key={device.id} {...{ device, isLive, canBeSelected }} />
              ))}
              {unreadable.map(({ id, name }) => (
                <li key={id} className={classes.unreadable}>
                  <bdi>{name}</bdi>: the relay cannot read what it stored of this machine.
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {canBeSelected && <SelectionBar selected={selected} hidden={hidden} />}
    </Page>
  );
}
