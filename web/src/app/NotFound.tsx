/** An address that leads nowhere. */
import { Link } from "@tanstack/react-router";
import { Page } from "../ui/Page.tsx";

export function NotFound() {
  return (
    <Page title="There is nothing here">
      <div>
        The address leads nowhere. Go to <Link to="/fleet">your machines</Link>.
      </div>
    </Page>
  );
}
