/** Short browser names, so that people recognise theirs in a list. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg/, "Edge"],
  [/OPR/, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"],
  [/Safari/, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Mac OS X/, "macOS"],
  [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** For example "Chrome on Linux"; for an unknown browser, the start of its User-Agent. */
export function browserName(userAgent: string | undefined): string {
  if (!userAgent) return "A browser";
  const browser = BROWSERS.find(([sign]) => sign.test(userAgent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(userAgent))?.[1];
  if (!browser) return userAgent.slice(0, 40);
  return system ? `${browser} on ${system}` : browser;
}
