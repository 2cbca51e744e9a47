/** News of a company's start, status and end. */

import { dateText, sentenceText } from '../../../protocol/describe/danish.ts';
import type { Change } from '../../changes/change.ts';
import { type DraftOf, type NewsDraft, subject } from './draft.ts';
import { type ArticleBlock, fill, type Phrase } from './phrase.ts';
import { named } from './relations.ts';

export const newCompany: DraftOf = (change) => {
  if (change.updates.newCompany === undefined) return undefined;
  const company = subject(change);
  const started = change.updates.lifetimeStarted?.date;
  const sentence =
    started === undefined
      ? fill('[company] er registreret i CVR som en ny virksomhed.', { company })
      : fill('[company] er registreret i CVR som en ny virksomhed med start den [day].', {
          company,
          day: [dateText(started)],
        });
  return {
    type: 'NewCompany',
    headline: fill('Ny virksomhed: [company]', { company }),
    tagLine: sentence,
    content: [{ kind: 'paragraph', text: sentence }],
  };
};

/** Known statuses, in capitals without spaces. */
const STATUSES: Readonly<Record<string, string>> = {
  NORMAL: '[company] har igen normal status',
  AKTIV: '[company] er igen aktiv',
  OPHØRT: '[company] er ophørt',
  UNDERKONKURS: '[company] er gået konkurs',
  UNDERTVANGSOPLØSNING: '[company] er under tvangsopløsning',
  UNDERFRIVILLIGLIKVIDATION: '[company] er trådt i frivillig likvidation',
  UNDERREKONSTRUKTION: '[company] er under rekonstruktion',
  UNDERREASSUMERING: '[company] er under reassumering',
  UDENRETSVIRKNING: 'Registreringen af [company] er uden retsvirkning',
  OPLØSTEFTERKONKURS: '[company] er opløst efter konkurs',
  OPLØSTEFTERFUSION: '[company] er opløst efter fusion',
  OPLØSTEFTERGRÆNSEOVERSKRIDENDEFUSION: '[company] er opløst efter grænseoverskridende fusion',
  OPLØSTEFTERSPALTNING: '[company] er opløst efter spaltning',
  OPLØSTEFTERGRÆNSEOVERSKRIDENDESPALTNING: '[company] er opløst efter grænseoverskridende spaltning',
  OPLØSTEFTERERKLÆRING: '[company] er opløst efter erklæring',
  OPLØSTEFTERFRIVILLIGLIKVIDATION: '[company] er opløst efter frivillig likvidation',
  TVANGSOPLØST: '[company] er tvangsopløst',
  SLETTET: '[company] er slettet',
};

/** Statuses that read as a return if there was another one before. */
const AGAIN = /^(?:normal|aktiv)$/i;

/** Includes a merger. */
export const status: DraftOf = (change) => {
  const { status: changed, merger } = change.updates;
  const sentences = [
    ...(merger === undefined ? [] : [mergerSentence(change, merger)]),
    ...(changed === undefined ? [] : [statusSentence(change, changed.before, changed.after)]),
  ];
  const [first] = sentences;
  if (first === undefined) return undefined;
  const was = changed?.before == null ? undefined : sentenceText(changed.before);
  const is = changed?.after == null ? undefined : sentenceText(changed.after);
  const line = is === undefined ? undefined : `Status: ${was === undefined ? is : `${was} → ${is}`}`;
  return {
    type: 'StatusChange',
    headline: first,
    tagLine: line === undefined || merger !== undefined ? [...first, '.'] : [`${line}.`],
    content: [
      ...sentences.map((text): ArticleBlock => ({ kind: 'paragraph', text: [...text, '.'] })),
      ...(line === undefined ? [] : [{ kind: 'list' as const, title: undefined, lines: [[line]] }]),
    ],
  };
};

function statusSentence(change: Change, before: string | null, after: string | null): Phrase {
  const company = subject(change);
  if (after === null) return fill('[company] har ikke længere en registreret status', { company });
  const known = before === null && AGAIN.test(after) ? undefined : STATUSES[after.toUpperCase().replace(/\s+/g, '')];
  return fill(known ?? '[company] har fået ny status: [status]', { company, status: [sentenceText(after)] });
}

function mergerSentence(change: Change, { entity, dissolved }: NonNullable<Change['updates']['merger']>): Phrase {
  const parts = { company: subject(change), other: [named(entity)] };
  return fill(
    dissolved ? '[company] er ophørt ved fusion med [other]' : '[company] er fusioneret med [other] og fortsætter',
    parts,
  );
}

const LONG_AGO_MS = 90 * 24 * 3_600_000;

/** Undefined for an old start, which is not news: the company was reopened or the date was corrected. */
function startOf({ timestamp }: Change, date: string): string {
  const isLongAgo = Date.parse(timestamp) - Date.parse(`${date.slice(0, 10)}T00:00:00Z`) > LONG_AGO_MS;
  return isLongAgo ? '[company] er registreret med start den [day]' : '[company] er startet den [day]';
}

/** Leaves out the start if the news of a new company has it. */
export const companyLife: DraftOf = (change) => {
  const { newCompany: isNew, lifetimeStarted, lifetimeEnded } = change.updates;
  const company = subject(change);
  const sentences = [
    ...(lifetimeEnded === undefined
      ? []
      : [fill('[company] er ophørt den [day]', { company, day: [dateText(lifetimeEnded.date)] })]),
    ...(lifetimeStarted === undefined || isNew !== undefined
      ? []
      : [fill(startOf(change, lifetimeStarted.date), { company, day: [dateText(lifetimeStarted.date)] })]),
  ];
  const [first] = sentences;
  if (first === undefined) return undefined;
  return {
    type: 'Lifetime',
    headline: first,
    tagLine: sentences.flatMap((text, at): Phrase => [at === 0 ? '' : ' ', ...text, '.']),
    content: sentences.map((text): ArticleBlock => ({ kind: 'paragraph', text: [...text, '.'] })),
  } satisfies NewsDraft;
};
