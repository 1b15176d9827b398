/** The title of the page that is shown, and how many calls wait for the person, in the browser's tab. */
import { create } from "zustand";

interface Shown {
  readonly title: string;
  readonly waiting: number;
}

export const usePageTitle = create<Shown>(() => ({ title: "", waiting: 0 }));

usePageTitle.subscribe(({ title, waiting }) => {
  const name = title ? `${title} · Matrx Relay` : "Matrx Relay";
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
});
