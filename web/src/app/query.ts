/** What pages read from the relay: kept while it may be shown again, and asked anew when somebody looks. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../relay/api-error.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the relay refuses, it refuses again; a lost network is the connection's to notice.
      retry: (count, error) => error instanceof ApiError && error.status >= 500 && count < 2,
      networkMode: "always",
    },
    mutations: { networkMode: "always", retry: false },
  },
});
