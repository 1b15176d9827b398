/** Where this person is signed in: browsers and command lines. */
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { clockTime, dateOf } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Status } from "../../../ui/Status.tsx";
import { Item, Items } from "../Items.tsx";
import { isSession, refreshTokens, type Token, useTokens } from "../tokens/queries.ts";

const PLACES: Readonly<Record<string, string>> = { web: "Browser", cli: "Command line" };

export function SessionsPanel({ ownGrant }: { ownGrant: string }) {
  const query = useTokens();
  const sessions = (query.data ?? []).filter(isSession);
  const own = sessions.filter(({ id }) => id === ownGrant);
  const others = sessions.filter(({ id }) => id !== ownGrant);
  return (
    <Panel
      title="Signed in"
      about="Browsers and command lines that act as you."
      actions={others.length > 0 && <EverywhereElseButton />}
    >
      <Loaded query={query}>
        {() => (
          <Items label="Signed in">
            {[...own, ...others].map((session) => (
              <SessionItem key={session.id} session={session} isOwn={session.id === ownGrant} />
            ))}
          </Items>
        )}
      </Loaded>
    </Panel>
  );
}

function EverywhereElseButton() {
  const end = async () => {
    const { revoked } = await api("POST /v1/sessions/revoke-others", { body: {} });
    await refreshTokens();
    say(`Signed out in ${revoked === 1 ? "one other place" : `${revoked} other places`}.`);
  };
  return (
    <ActionButton
      size="sm"
      variant="default"
      work={end}
      ask={{
        text: "Sign out every other browser and command line? What they have open ends at once, and so do sign-in links. Passkeys, recovery codes and tokens stay: remove those that are not yours.",
        yes: "Sign out everywhere else",
      }}
    >
      Sign out everywhere else
    </ActionButton>
  );
}

function SessionItem({ session, isOwn }: { session: Token; isOwn: boolean }) {
  const { id, name, kind, created, expires } = session;
  const end = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    await refreshTokens();
    say(`${name} was signed out.`);
  };
  return (
    <Item
      name={name}
      state={isOwn && <Status tone="ok">This browser</Status>}
      details={[PLACES[kind] ?? kind, `since ${clockTime(created)}`, `until ${dateOf(expires)}`]}
      actions={
        !isOwn && (
          <ActionButton
            size="sm"
            variant="default"
            aria-label={`Sign out ${name}, since ${clockTime(created)}`}
            work={end}
            ask={{ text: `Sign out ${name}? What it has open ends at once.`, yes: "Sign out" }}
          >
            Sign out
          </ActionButton>
        )
      }
    />
  );
}
