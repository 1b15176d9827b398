/** What an account is called: by the name that its person chose, which anybody may choose, and by its own. */
import type { AccountView } from "../relay/account.ts";

export function accountWords({ account, display_name: name }: AccountView): string {
  return name == null ? account : `${name} (${account})`;
}
