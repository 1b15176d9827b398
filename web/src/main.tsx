/** The web app. */
import "./app/trusted-types.ts";
import { NONCE } from "./app/nonce.ts";
import "@fontsource-variable/inter";
import "@fontsource-variable/jetbrains-mono";
import "./app/mantine-shell.css";
import "./app/app.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./app/notification-taps.ts";
import "./app/proof-nonce.ts";
import { queryClient } from "./app/query.ts";
import { reloadOnMissingFile, startServiceWorker } from "./app/release.ts";
import { router } from "./app/router.tsx";
import { colorSchemeManager, cssVariables, theme } from "./app/theme.ts";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no place for the app");

reloadOnMissingFile();
// Without one the app needs the network to start, and nothing else.
void startServiceWorker().catch(() => undefined);

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colorSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => NONCE}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
