/** Where the guide expects the local server. */
export const USUAL_PORT = "8000";
