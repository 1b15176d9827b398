/** All devices that a caller reaches, behind one MCP endpoint: each call names its device. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { isDeviceId } from "@matrx/shared/ids.ts";
import { check } from "@matrx/shared/json-input.ts";
import { DEVICE_HEALTH, LIST_DEVICES, sharedTools, toolsOfAll } from "@matrx/shared/mcp/device-tools.ts";
import { type ChosenTools, ENABLE_TOOLS } from "@matrx/shared/mcp/enable-tools.ts";
import { FollowedDevice } from "@matrx/shared/mcp/followed-device.ts";
import type { Arguments, McpHost, Target } from "@matrx/shared/mcp/host.ts";
import { StreamedCalls } from "@matrx/shared/mcp/streamed-calls.ts";
import { DEVICE } from "@matrx/shared/mcp/tools.ts";
import type { OfferedTools, WantedView } from "@matrx/shared/model-view.ts";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { DevicePort } from "../port/device-port.ts";
import { type ReachableDevice, reachableDevices, reachDevice } from "../reach.ts";
import { deviceMeant } from "./device-meant.ts";
import { deviceHealth, listDevices } from "./device-tools.ts";

const deviceSchema = z.object({ [DEVICE]: z.string().min(1).max(128) });

export class ManyDevices implements McpHost {
  readonly #env: Env;
  readonly #caller: Caller;
  readonly #origin: string;
  readonly #chosen: ChosenTools;

  constructor(env: Env, caller: Caller, origin: string, chosen: ChosenTools) {
    this.#chosen = chosen;
    this.#env = env;
    this.#caller = caller;
    this.#origin = origin;
  }

  async tools(): Promise<Tool[]> {
    const opened = await this.#opened(this.#chosen.view);
    return toolsOfAll(
      opened.map(({ tools }) => tools),
      opened.flatMap(({ others }) => others),
    );
  }

  async target(input: Arguments): Promise<Target> {
    const { [DEVICE]: _, ...rest } = input;
    const id = await this.#named(input);
    return { device: await this.#open(id), input: rest, naming: { [DEVICE]: id } };
  }

  async answer(tool: string, input: Arguments): Promise<CallToolResult | undefined> {
    if (tool === LIST_DEVICES) {
      check(z.strictObject({}), input, "caller");
      return listDevices(this.#env, this.#caller);
    }
    if (tool === DEVICE_HEALTH) return deviceHealth(this.#env, this.#caller, await this.#named(input));
    if (tool !== ENABLE_TOOLS) return undefined;
    return await this.#chosen.enable(input, async (view) =>
      sharedTools((await this.#opened(view)).map(({ tools }) => tools)),
    );
  }

  async #opened(view: WantedView): Promise<OfferedTools[]> {
    const devices = await reachableDevices(this.#env, this.#caller);
    return await Promise.all(devices.map((device) => this.#openTools(device, view)));
  }

  /** The id of the device that the arguments mean by id or name. Never guesses. Throws MatrxError that lists the choices. */
  async #named(input: Arguments): Promise<string> {
    const named = deviceSchema.safeParse(input).data?.[DEVICE];
    if (named !== undefined && isDeviceId(named)) return named;
    return deviceMeant(named, await reachableDevices(this.#env, this.#caller));
  }

  async #open(id: string): Promise<FollowedDevice> {
    const { device, caller } = await reachDevice(this.#env, this.#caller, id);
    const calls = new StreamedCalls(new DevicePort(this.#env, caller, id, device));
    return new FollowedDevice(calls, this.#origin);
  }

  /** A device that cannot tell its tools now has none to list; a call to it will say why. */
  async #openTools({ id }: ReachableDevice, view: WantedView): Promise<OfferedTools> {
    try {
      return await (await this.#open(id)).openTools(view);
    } catch (error) {
      if (error instanceof MatrxError) return { tools: [], others: [] };
      throw error;
    }
  }
}
