import { Page } from "../../ui/Page.tsx";

export function FleetPage() {
  return <Page title="FleetPage">Nothing yet</Page>;
}
