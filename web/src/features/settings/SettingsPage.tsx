import { Page } from "../../ui/Page.tsx";

export function SettingsPage() {
  return <Page title="SettingsPage">Nothing yet</Page>;
}
