/** Asks before something that cannot be undone: one question at a time, shown by `shell/Confirm.tsx`. */
import { create } from "zustand";

export interface Question {
  /** What will happen, with the name of what it happens to. */
  readonly text: string;
  /** The button that does it. */
  readonly yes: string;
  readonly no?: string;
  /** It destroys nothing: the button is not red. */
  readonly isHarmless?: boolean;
}

interface Asked {
  readonly question: Question;
  readonly answer: (yes: boolean) => void;
  /** What had the focus, and gets it back. */
  readonly opener: Element | null;
}

export const useQuestion = create<{ readonly asked: Asked | undefined }>(() => ({ asked: undefined }));

/** Answers a question that is on the screen with no. */
export function withdrawQuestion(): void {
  useQuestion.getState().asked?.answer(false);
}

/** Resolves to true for yes. */
export function confirmed(question: Question): Promise<boolean> {
  withdrawQuestion();
  const opener = document.activeElement;
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      useQuestion.setState({ asked: undefined });
      resolve(yes);
    };
    useQuestion.setState({ asked: { question, answer, opener } });
  });
}
