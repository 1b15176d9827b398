// Before anything is drawn: the theme and the size that were chosen here, or the system's.
(() => {
  const kept = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      // The browser keeps nothing for this page.
      return null;
    }
  };
  const chosen = kept("matrx-color-scheme");
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : isDark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
  document.documentElement.style.fontSize = kept("matrx-size") ?? "";
})();
