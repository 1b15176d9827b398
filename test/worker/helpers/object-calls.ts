/** Requests to a relay that counts the calls of its objects. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import app from "../../../worker/index.ts";
import { ORIGIN } from "./request.ts";

const OBJECTS = ["ACCOUNT", "DEVICE", "DIRECTORY", "PAIRING", "AUDIT"] as const;

/** Asks the relay. Also returns the calls of objects, in order, such as `ACCOUNT.describe`. */
export async function askCounting(
  path: string,
  init: RequestInit,
): Promise<{ response: Response; calls: string[] }> {
  const calls: string[] = [];
  const counting = Object.fromEntries(
    OBJECTS.map((name) => [name, watched(env[name], (method) => calls.push(`${name}.${method}`))]),
  );
  const request = new Request(`${ORIGIN}${path}`, init);
  const response = await app.fetch(request, { ...env, ...counting }, createExecutionContext());
  return { response, calls };
}

/** A namespace whose stubs tell what is called. */
function watched<Namespace extends object>(namespace: Namespace, told: (method: string) => void): Namespace {
  return new Proxy(namespace, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      if (name !== "get" && name !== "getByName") return member.bind(target);
      return (...args: unknown[]) => watchedStub(member.apply(target, args) as object, told);
    },
  });
}

function watchedStub(stub: object, told: (method: string) => void): object {
  return new Proxy(stub, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        told(String(name));
        // Any property of a stub's method, such as `apply`, would be a call of the object too.
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}
