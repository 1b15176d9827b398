import type { EventEmitter } from "node:events";
import type { WebSocket } from "ws";

export type Message = { type: string } & Record<string, unknown>;
export type Parameters = Record<string, unknown>;

export interface BareDeviceOptions {
  url: string;
  deviceId: string;
  token: string;
  root: string;
  heartbeatMs?: number;
  reconnect?: boolean;
  tools?: Record<string, (root: string, parameters: Parameters) => Promise<unknown>>;
}

interface Events {
  state: [state: string];
  message: [message: Message];
  closed: [code: number, reason: string];
  fault: [error: Error];
}

export class BareDevice extends EventEmitter<Events> {
  constructor(options: BareDeviceOptions);
  readonly state: string;
  readonly received: Message[];
  readonly socket: WebSocket;
  readonly permissions: Record<string, unknown> | undefined;
  connect(): this;
  send(type: string, fields: Record<string, unknown>): void;
  heartbeat(): void;
  event(type: string, severity: string, data: Record<string, unknown>): void;
  query(query: string): void;
  close(): void;
  vanish(): void;
}
