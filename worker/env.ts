/** What the Worker and its objects are given. */
import type { AddressEnv } from "./auth/address.ts";
import type { Account } from "./objects/account.ts";
import type { Device } from "./objects/device.ts";
import type { Directory } from "./objects/directory.ts";
import type { Door } from "./objects/door.ts";
import type { Pairing } from "./objects/pairing.ts";
import type { Secrets } from "./secrets.ts";

export interface Env extends Secrets, AddressEnv {
  DEVICE: DurableObjectNamespace<Device>;
  ACCOUNT: DurableObjectNamespace<Account>;
  PAIRING: DurableObjectNamespace<Pairing>;
  DIRECTORY: DurableObjectNamespace<Directory>;
  DOOR: DurableObjectNamespace<Door>;
  /** The pages: static assets on Cloudflare, a disk service in the embedded relay. */
  ASSETS: Fetcher;
  /** Set in the embedded relay. */
  EMBEDDED?: string;
}
