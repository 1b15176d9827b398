// Before anything is drawn: the theme and the size that were chosen here, or the system's.
(() => {
  const chosen = localStorage.getItem("matrx-color-scheme");
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : isDark ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
  document.documentElement.style.fontSize = localStorage.getItem("matrx-size") ?? "";
})();
