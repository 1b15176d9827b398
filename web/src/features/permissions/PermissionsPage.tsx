import { Page } from "../../ui/Page.tsx";

export function PermissionsPage() {
  return <Page title="PermissionsPage">Nothing yet</Page>;
}
