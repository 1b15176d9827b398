import { Page } from "../../ui/Page.tsx";

export function DevicePage() {
  return <Page title="DevicePage">Nothing yet</Page>;
}
