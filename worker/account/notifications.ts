/** A person's notifications: which browsers get them, of what, and when not. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type GrantId, randomBase32 } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import {
  PUSH_KINDS,
  type PushKind,
  type PushSubscriptionView,
  type PushTest,
  type PushView,
  type QuietHours,
} from "@matrx/shared/push-api.ts";
import type { PushMessage } from "@matrx/shared/push-message.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { requirePushAddress } from "../push/address.ts";
import { requireReceiver } from "../push/seal.ts";
import { type Sent, sendPush } from "../push/send.ts";
import { type Subscription, viewOf } from "../push/subscriptions.ts";
import { tooManyError } from "../refusals.ts";
import type { AccountContext } from "./context.ts";

/** What a browser gives away for its notifications, and the address of this relay. */
export interface NewSubscription
  extends Pick<Subscription, "endpoint" | "p256dh" | "auth" | "contact" | "name"> {
  readonly kinds?: readonly PushKind[] | undefined;
}

const TESTS: Rate = { burst: 5, everyMs: 10_000 };
/** A test that does not arrive soon is of no use, in milliseconds. */
const TEST_KEPT = 60_000;

export class Notifications {
  readonly #context: AccountContext;
  readonly #tests = new TokenBucket(TESTS, Date.now());

  constructor(context: AccountContext) {
    this.#context = context;
  }

  read(person: GrantId): Promise<Outcome<PushView>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#view(person);
    });
  }

  setQuietHours(person: GrantId, hours: QuietHours | null): Promise<Outcome<PushView>> {
    return attempt(() => {
      this.#context.person(person);
      this.#context.push.setQuietHours(hours);
      return this.#view(person);
    });
  }

  /** Replaces the session's subscription, if it had one. */
  subscribe(
    person: GrantId,
    { kinds = PUSH_KINDS, ...wanted }: NewSubscription,
  ): Promise<Outcome<PushSubscriptionView>> {
    return attempt(async () => {
      requirePushAddress(wanted.endpoint);
      await requireReceiver(wanted.p256dh);
      // What takes time is over: nothing comes between the checks and the row.
      this.#context.person(person);
      const { subscriptions } = this.#context;
      const now = Date.now();
      const others = subscriptions
        .list(now)
        .filter(({ grant, endpoint }) => grant !== person && endpoint !== wanted.endpoint);
      if (others.length >= LIMITS.pushSubscriptions)
        throw tooManyError("browsers that get notifications", LIMITS.pushSubscriptions);
      const id = `push_${randomBase32(16)}`;
      const made = {
        ...wanted,
        id,
        grant: person,
        kinds,
        created: now,
        succeeded: null,
        problem: null,
        rate: 0,
      };
      subscriptions.add(made);
      return viewOf(made, person);
    });
  }

  change(person: GrantId, id: string, kinds: readonly PushKind[]): Promise<Outcome<PushSubscriptionView>> {
    return attempt(() => {
      const subscription = this.#own(person, id);
      this.#context.subscriptions.setKinds(id, kinds);
      return viewOf({ ...subscription, kinds }, person);
    });
  }

  unsubscribe(person: GrantId, id: string): Promise<Outcome<void>> {
    return attempt(() => {
      this.#own(person, id);
      this.#context.subscriptions.remove(id);
    });
  }

  /** Sends a message now, quiet hours or not; the answer is what the push services said. */
  test(person: GrantId, id: string | undefined): Promise<Outcome<PushTest>> {
    return attempt(async () => {
      this.#context.person(person);
      const now = Date.now();
      const told = id === undefined ? this.#context.subscriptions.list(now) : [this.#own(person, id)];
      if (!this.#tests.take(now))
        throw relayError("RATE_LIMITED", "Too many tests at once", retryIn(this.#tests.readyIn(now)));
      return { results: await Promise.all(told.map((subscription) => this.#testOne(subscription, now))) };
    });
  }

  async #testOne(target: Subscription, now: number): Promise<PushTest["results"][number]> {
    const { subscriptions, vapid } = this.#context;
    const text = JSON.stringify({ kind: "test" } satisfies PushMessage);
    const sending = { text, about: "test", urgency: "high", keptFor: TEST_KEPT } as const;
    const sent = await sendPush(target, sending, vapid, now);
    const problem = problemOf(sent);
    if (sent.type === "gone") subscriptions.remove(target.id);
    else if (problem === null) subscriptions.succeeded(target.id, Date.now());
    else subscriptions.failed(target.id, problem);
    return { subscription: target.id, sent: problem === null, problem };
  }

  async #view(person: GrantId): Promise<PushView> {
    const { vapid, subscriptions, push } = this.#context;
    return {
      public_key: await vapid.publicKey(),
      subscriptions: subscriptions.list(Date.now()).map((subscription) => viewOf(subscription, person)),
      quiet_hours: push.quietHours,
    };
  }

  /** Throws MatrxError. */
  #own(person: GrantId, id: string): Subscription {
    this.#context.person(person);
    const subscription = this.#context.subscriptions.find(id, Date.now());
    if (!subscription) throw noSuchSubscription();
    return subscription;
  }
}

function problemOf(sent: Sent): string | null {
  if (sent.type === "sent") return null;
  return sent.type === "gone" ? "The browser no longer takes notifications" : sent.problem;
}

function noSuchSubscription(): MatrxError {
  return relayError("NOT_FOUND", "No browser of this account gets notifications under this id", {
    hint: "GET /v1/push lists them; one ends when its browser signs out",
  });
}
