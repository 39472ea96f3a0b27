import { signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

/** The theme is kept in a cookie: the server writes it into the page, so that the first paint has it. */
const cookie = "lastword_theme";

export const theme = signal<Theme>((document.documentElement.dataset.theme as Theme) || "auto");

export function setTheme(value: Theme) {
  theme.value = value;
  if (value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
  document.cookie = `${cookie}=${value}; Path=/; SameSite=Strict; Max-Age=${value === "auto" ? 0 : 31536000}`;
}
