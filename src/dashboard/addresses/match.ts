/** Where the match page stands among the records. */
import type { MatchPlace } from '../../connector/match/undecided.ts';

/** The record that an address names, as `provider/record`. */
export function readPlace(text: string): MatchPlace | undefined {
  const at = text.indexOf('/');
  return at < 1 ? undefined : { provider: text.slice(0, at), recordId: text.slice(at + 1) };
}

const address = (name: 'after' | 'at', { provider, recordId }: MatchPlace): string =>
  `/match?${new URLSearchParams({ [name]: `${provider}/${recordId}` })}`;

/** The address of the page behind a record. */
export const behind = (place: MatchPlace): string => address('after', place);

/** The address of the page of one record. */
export const at = (place: MatchPlace): string => address('at', place);
