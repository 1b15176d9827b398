/** What every page of the app is drawn with. */
import { MantineProvider } from "@mantine/core";
import type { ReactNode } from "react";
import { NONCE } from "../base/nonce.ts";
import { colorSchemeManager, cssVariables, theme } from "./theme.ts";

export function Themed({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colorSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => NONCE}
    >
      {children}
    </MantineProvider>
  );
}
