/** The answers in the words of the page's buttons: what the commands call them is no word that somebody sees here. */
import { type ReviewVerb, VERBS } from '../../connector/explain/attention-kinds.ts';
import type { Reader } from '../page/reader.ts';

/** A text of the commands, in which each of these answers stands as its button is called. */
export const withButtonNames = (reader: Reader, text: string, verbs: readonly ReviewVerb[] = VERBS): string =>
  text.replaceAll(/(?:cvrsync review )?\b(retry|drop|accept|keep)\b/gu, (all, word: string) => {
    const verb = verbs.find((each) => each === word);
    return verb === undefined ? all : `“${reader.text(`verb.${verb}`)}”`;
  });
