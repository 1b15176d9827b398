/** What of a machine is shown, how it stands, and how often and how far back. */
import { Button, NativeSelect } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import filters from "../activity/Filters.module.css";
import type { Choice } from "./choices.ts";
import classes from "./Monitor.module.css";
import { VIEWS } from "./views.ts";

interface Props {
  readonly device: string;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  readonly choices: readonly Choice[];
  /** How it stands. */
  readonly children: ReactNode;
}

export function MonitorBar({ device, isPaused, setPaused, choices, children }: Props) {
  const Icon = isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <div className={classes.bar}>
      <nav className={filters.filters} aria-label="What is shown">
        {VIEWS.map(({ view, label }) => (
          <Link
            key={view}
            to="/d/$device/monitor"
            params={{ device }}
            search={view === "load" ? {} : { view }}
            replace
            activeOptions={{ exact: true }}
            className={filters.filter}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className={classes.controls}>
        {children}
        {choices.map(({ label, data, value, choose }) => (
          <NativeSelect
            key={label}
            aria-label={label}
            data={[...data]}
            value={value}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          />
        ))}
        <Button
          variant="default"
          leftSection={<Icon size={16} aria-hidden />}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      </div>
    </div>
  );
}
