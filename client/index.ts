/** What programs import: `connectDevice`, or `connectByHttp`, gives a `Device`. */
export type { EventView } from "@matrx/shared/api.ts";
export type { Answer } from "@matrx/shared/caller/to-caller.ts";
export type { ErrorCode, ErrorShape, Hop } from "@matrx/shared/errors.ts";
// biome-ignore lint/performance/noBarrelFile: a package has one entry
export { MatrxError } from "@matrx/shared/errors.ts";
export type { Incoming, StreamEnd } from "@matrx/shared/streams/endpoint.ts";
export type { CallEnd } from "./call.ts";
export type { DeviceAt } from "./connect.ts";
export { connectByHttp, connectDevice } from "./connect.ts";
export type {
  ApprovalEvent,
  CallOptions,
  Device,
  DeviceOptions,
  FollowOptions,
  OpenOptions,
  WatchOptions,
} from "./device.ts";
export type { CallEvent, Input, Opened } from "./transport.ts";
