import { Page } from "../../ui/Page.tsx";

export function ActivityPage() {
  return <Page title="ActivityPage">Nothing yet</Page>;
}
