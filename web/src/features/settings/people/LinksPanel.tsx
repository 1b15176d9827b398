/** Links to single files and ports, for whoever has them. They are made elsewhere; here they are seen and ended. */
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { dateOf } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import { Item, Items } from "../Items.tsx";
import { isShare, refreshTokens, type Token, useTokens } from "../tokens/queries.ts";
import { sentenceOf } from "../tokens/token-words.ts";
import { useShares } from "./queries.ts";

export function LinksPanel() {
  const shares = useShares().data?.given;
  const tokens = useTokens().data;
  if (!shares || !tokens) return null;
  const links = tokens.filter((token) => isShare(token) && !shares.some(({ id }) => id === token.id));
  if (links.length === 0) return null;
  return (
    <Panel title="Links" about="Whoever has such a link can use what it leads to, without an account.">
      <Items label="Links">
        {links.map((link) => (
          <LinkItem key={link.id} link={link} />
        ))}
      </Items>
    </Panel>
  );
}

function LinkItem({ link }: { link: Token }) {
  const { id, name, created, expires } = link;
  const end = async () => {
    await api("DELETE /v1/tokens/{grant}", { path: { grant: id } });
    await refreshTokens();
    say(`The link ${name} has ended.`);
  };
  return (
    <Item
      name={name}
      about={visibleLine(sentenceOf(link))}
      details={[`since ${dateOf(created)}`, `until ${dateOf(expires)}`]}
      actions={
        <ActionButton
          size="sm"
          variant="default"
          aria-label={`End the link ${name}`}
          work={end}
          ask={{ text: `End the link ${name}? It stops working at once.`, yes: "End it", no: "Keep it" }}
        >
          End
        </ActionButton>
      }
    />
  );
}
