import { Page } from "../../ui/Page.tsx";

export function PairPage() {
  return <Page title="PairPage">Nothing yet</Page>;
}
