/** The machine at hand: the one in the address, or else the one looked at last, if there is one. */
import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { create } from "zustand";
import { store, stored, unstore } from "../base/storage.ts";
import { onForget } from "../base/tab-store.ts";
import { useMachines } from "../data/devices.ts";

const KEY = "matrx-device";

const useLast = create<{ readonly device: string | undefined }>(() => ({
  device: stored("browser", KEY),
}));

onForget(() => {
  unstore("browser", KEY);
  useLast.setState({ device: undefined });
});

export function useCurrentDevice(): string | undefined {
  const { device } = useParams({ strict: false });
  const last = useLast((state) => state.device);
  const devices = useMachines();
  useEffect(() => {
    if (device === undefined || device === last) return;
    store("browser", KEY, device);
    useLast.setState({ device });
  }, [device, last]);
  if (device !== undefined) return device;
  return devices.some(({ id }) => id === last) ? last : devices[0]?.id;
}
