import { Page } from "../../ui/Page.tsx";

export function CallPage() {
  return <Page title="CallPage">Nothing yet</Page>;
}
