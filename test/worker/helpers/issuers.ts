/** The `OIDC_ISSUERS` of the Worker under test. */
export const ISSUERS = [
  { id: "open", name: "Open house", issuer: "https://open.test", client_id: "matrx", accounts: "open" },
  {
    id: "home",
    name: "Our home",
    issuer: "https://home.test/realms/family",
    client_id: "relay",
    client_secret: "the client's secret: & %",
    accounts: { "sub-of-ann": "ann", "Ben@Home.Test": "ben", "cleo@home.test": "cleo" },
  },
  { id: "twin", name: "Twin", issuer: "https://twin.test", client_id: "matrx", accounts: "open" },
  { id: "down", name: "Down", issuer: "https://down.test", client_id: "matrx", accounts: "open" },
];
