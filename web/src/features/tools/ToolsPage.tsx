import { Page } from "../../ui/Page.tsx";

export function ToolsPage() {
  return <Page title="ToolsPage">Nothing yet</Page>;
}
