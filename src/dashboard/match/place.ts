/** Where the match page stands among the records. */
import type { MatchPlace } from '../../connector/match/undecided.ts';

/** The record that the page comes after, as `provider/record`. */
export function readPlace(text: string): MatchPlace | undefined {
  const at = text.indexOf('/');
  return at < 1 ? undefined : { provider: text.slice(0, at), recordId: text.slice(at + 1) };
}

/** The address of the page behind a record. */
export const behind = ({ provider, recordId }: MatchPlace): string =>
  `/match?${new URLSearchParams({ after: `${provider}/${recordId}` })}`;
