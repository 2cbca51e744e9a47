/** Colours for a terminal. A colour only repeats what a word says. */
import { styleText } from 'node:util';
import type { Env } from '../../config/variables.ts';

/** The meaning of a part of a line, shown as its colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'strong' | 'quiet';

export interface Toned {
  readonly tone: Tone;
  readonly text: string;
}

export const toned = (tone: Tone, text: string): Toned => ({ tone, text });

const FORMATS = { good: 'green', warn: 'yellow', bad: 'red', strong: 'bold', quiet: 'dim' } as const;

/** A text as a terminal shows it in a colour. The text must not contain control characters from outside. */
export const painted = (tone: Tone, text: string): string => styleText(FORMATS[tone], text, { validateStream: false });

/** Whether to print colours: on a terminal, unless NO_COLOR or TERM=dumb says not to; FORCE_COLOR decides before all. */
export function hasColours({ isTTY }: { readonly isTTY?: boolean }, env: Env): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  return isTTY === true;
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ ok: 'good', active: 'good', enabled: 'good', delivered: 'good', written: 'good', linked: 'good' },
  ...{ warn: 'warn', paused: 'warn', held: 'warn', waiting: 'warn', pending: 'warn', kept: 'warn', disabled: 'warn' },
  ...{ fail: 'bad', failed: 'bad', failing: 'bad', parked: 'bad', conflict: 'bad', refused: 'bad', revoked: 'bad' },
};

export const toneOf = (word: string): Tone | undefined => (Object.hasOwn(TONES, word) ? TONES[word] : undefined);
