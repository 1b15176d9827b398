import { Page } from "../../ui/Page.tsx";

export function SignInPage() {
  return <Page title="SignInPage">Nothing yet</Page>;
}
