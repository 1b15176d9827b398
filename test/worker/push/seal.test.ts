/** Sealing against RFC 8291: its own example byte by byte, and messages of ours as a browser opens them. */
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { seal } from "../../../worker/push/seal.ts";
import { PushBrowser } from "../helpers/push.ts";

/** RFC 8291, section 5 and appendix A. */
const EXAMPLE = {
  text: "When I grow up, I want to be a watermelon",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  receiver: {
    publicKey: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    privateKey: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  },
  sender: {
    publicKey: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
    privateKey: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  },
  body: "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

async function pairOf({ publicKey, privateKey: d }: { publicKey: string; privateKey: string }) {
  const point = base64url.decode(publicKey);
  const [x, y] = [point.slice(1, 33), point.slice(33)].map((half) => base64url.encode(half));
  const jwk = { kty: "EC", crv: "P-256", x, y } as JsonWebKey;
  const curve = { name: "ECDH", namedCurve: "P-256" };
  return {
    privateKey: await crypto.subtle.importKey("jwk", { ...jwk, d }, curve, true, ["deriveBits"]),
    publicKey: await crypto.subtle.importKey("jwk", jwk, curve, true, []),
  };
}

describe("a sealed message", () => {
  const { text, auth, salt, receiver, sender, body } = EXAMPLE;

  it("is that of RFC 8291's example, byte by byte", async () => {
    const fresh = { keys: await pairOf(sender), salt: base64url.decode(salt) };
    const sealed = await seal(text, { p256dh: receiver.publicKey, auth }, fresh, 0);
    expect(base64url.encode(sealed)).toBe(body);
  });

  it("of the example is opened by the browser of these tests, which knows nothing of ours", async () => {
    const browser = new PushBrowser("https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", {
      auth: base64url.decode(auth),
      publicKey: base64url.decode(receiver.publicKey),
      privateKey: (await pairOf(receiver)).privateKey,
    });
    expect(await browser.read(base64url.decode(body))).toBe(text);
  });

  it("is opened by its browser, is made with a new key and salt each time, and has a length that says nothing", async () => {
    const browser = await PushBrowser.open();
    const { keys } = browser.subscription;
    const texts = ["", "a", '{"kind":"test"}', "Ä".repeat(400)];
    const sealed = await Promise.all([...texts, texts[0] ?? ""].map((one) => seal(one, keys)));
    expect(await Promise.all(sealed.slice(0, 4).map((body) => browser.read(body)))).toEqual(texts);
    expect(new Set(sealed.map(({ length }) => length)).size).toBe(1);
    expect(new Set(sealed.map((body) => base64url.encode(body.slice(0, 86)))).size).toBe(sealed.length);
  });

  it("fits into the 4096 bytes that every push service takes, or is refused", async () => {
    const { keys } = (await PushBrowser.open()).subscription;
    expect((await seal("x".repeat(3993), keys)).length).toBe(4096);
    await expect(seal("x".repeat(3994), keys)).rejects.toThrow("too long");
  });

  it("stays closed to another browser", async () => {
    const [browser, other] = [await PushBrowser.open(), await PushBrowser.open()];
    await expect(other.read(await seal("secret", browser.subscription.keys))).rejects.toThrow();
  });
});
