/** News of legal owners, beneficial owners and their votes, and of a subsidiary that a company founded. */

import { shareText } from '../../../protocol/describe/danish.ts';
import type { Entity } from '../../../protocol/formats.ts';
import type { Change } from '../../changes/change.ts';
import { type DraftOf, type NewsDraft, subject } from './draft.ts';
import { type ArticleBlock, fill, type Phrase, shortList } from './phrase.ts';
import { named, worded } from './relations.ts';

type OwnershipEvent = 'ownership' | 'trueOwnership' | 'trueVoteRights';

interface Words {
  readonly event: OwnershipEvent;
  readonly added: readonly [one: string, two: string, many: string];
  readonly removed: readonly [one: string, two: string, many: string];
  readonly changed: readonly [one: string, two: string, many: string];
  readonly mixed: string;
  /** Text before the names, for one and for more. */
  readonly labels: Readonly<Record<Part, readonly [one: string, more: string]>>;
}

type Part = 'added' | 'removed' | 'changed';
const PARTS: readonly Part[] = ['added', 'removed', 'changed'];

/** The first that changed gives the headline. */
const WORDS: readonly Words[] = [
  {
    event: 'ownership',
    added: [
      '[who] er ny ejer af [company]',
      '[who] er nye ejere af [company]',
      '[company] har fået [number] nye ejere',
    ],
    removed: [
      '[who] er ikke længere registreret som ejer af [company]',
      '[who] er ikke længere registreret som ejere af [company]',
      '[number] ejere er ikke længere registreret i [company]',
    ],
    changed: [
      '[who] har ændret sin ejerandel i [company]',
      '[who] har ændret deres ejerandele i [company]',
      '[number] ejere har ændret deres ejerandele i [company]',
    ],
    mixed: 'Ændringer blandt ejerne af [company]',
    labels: {
      added: ['Ny ejer', 'Nye ejere'],
      removed: ['Ikke længere ejer', 'Ikke længere ejere'],
      changed: ['Ændret ejerandel', 'Ændrede ejerandele'],
    },
  },
  // A beneficial owner without a registered share may be one by a role, and may have votes.
  {
    event: 'trueOwnership',
    added: [
      '[who] er registreret med en reel ejerandel i [company]',
      '[who] er registreret med reelle ejerandele i [company]',
      '[number] er registreret med reelle ejerandele i [company]',
    ],
    removed: [
      '[who] er ikke længere registreret med en reel ejerandel i [company]',
      '[who] er ikke længere registreret med reelle ejerandele i [company]',
      '[number] er ikke længere registreret med reelle ejerandele i [company]',
    ],
    changed: [
      '[who] har ændret sin reelle ejerandel i [company]',
      '[who] har ændret deres reelle ejerandele i [company]',
      '[number] reelle ejere har ændret deres ejerandele i [company]',
    ],
    mixed: 'Ændringer i de reelle ejerandele i [company]',
    labels: {
      added: ['Ny reel ejerandel', 'Nye reelle ejerandele'],
      removed: ['Udgået reel ejerandel', 'Udgåede reelle ejerandele'],
      changed: ['Ændret reel ejerandel', 'Ændrede reelle ejerandele'],
    },
  },
  {
    event: 'trueVoteRights',
    added: [
      '[who] er registreret med stemmerettigheder som reel ejer af [company]',
      '[who] er registreret med stemmerettigheder som reelle ejere af [company]',
      '[number] er registreret med stemmerettigheder som reelle ejere af [company]',
    ],
    removed: [
      '[who] er ikke længere registreret med stemmerettigheder som reel ejer af [company]',
      '[who] er ikke længere registreret med stemmerettigheder som reelle ejere af [company]',
      '[number] er ikke længere registreret med stemmerettigheder som reelle ejere af [company]',
    ],
    changed: [
      '[who] har fået ændret sine stemmerettigheder som reel ejer af [company]',
      '[who] har fået ændret deres stemmerettigheder som reelle ejere af [company]',
      '[number] reelle ejere har fået ændret deres stemmerettigheder i [company]',
    ],
    mixed: 'Ændringer i de reelle ejeres stemmerettigheder i [company]',
    labels: {
      added: ['Nye stemmerettigheder som reel ejer', 'Nye stemmerettigheder som reelle ejere'],
      removed: ['Udgåede stemmerettigheder som reel ejer', 'Udgåede stemmerettigheder som reelle ejere'],
      changed: ['Ændrede stemmerettigheder som reel ejer', 'Ændrede stemmerettigheder som reelle ejere'],
    },
  },
];

/** The names in a tag line; it counts others. */
const SHOWN = 3;

interface Holder extends Entity {
  readonly now: string | null;
  readonly before: string | null;
}
interface Holders {
  readonly words: Words;
  readonly parts: Readonly<Record<Part, readonly Holder[]>>;
}

export const ownership: DraftOf = (change) => {
  const changed = WORDS.map((words) => ({ words, parts: holdersOf(change, words.event) })).filter(({ parts }) =>
    PARTS.some((part) => parts[part].length > 0),
  );
  const founded = change.updates.subsidiaryFounded;
  const [first] = changed;
  if (first === undefined) return founded === undefined ? undefined : subsidiary(change, founded.ownership);
  const company = subject(change);
  const blocks = changed.flatMap(sections);
  return {
    type: 'Ownership',
    headline: headlineOf(first, company),
    tagLine: tagLineOf(first),
    content: [
      { kind: 'paragraph', text: [...headlineOf(first, company), '.'] },
      ...blocks,
      ...(founded === undefined ? [] : subsidiary(change, founded.ownership).content),
    ],
  };
};

function holdersOf(change: Change, event: OwnershipEvent): Holders['parts'] {
  // See Change: a bare id is the legal owner's.
  const former = (entityId: string): string | null =>
    change.formerShares?.[event === 'ownership' ? entityId : `${event} ${entityId}`] ?? null;
  const holder = (owner: Entity & { ownership?: string | null; voterights?: string | null }): Holder => ({
    ...owner,
    now: owner.ownership ?? owner.voterights ?? null,
    before: former(owner.entityId),
  });
  const data = change.updates[event];
  return {
    added: data?.added.map(holder) ?? [],
    removed: data?.removed.map(holder) ?? [],
    // An owner with an unchanged share has a new name, which is not news.
    changed: data?.changed.map(holder).filter(({ now, before }) => now === null || now !== before) ?? [],
  };
}

function headlineOf({ words, parts }: Holders, company: Phrase): Phrase {
  const touched = PARTS.filter((part) => parts[part].length > 0);
  const [only] = touched;
  return only === undefined || touched.length > 1
    ? fill(words.mixed, { company })
    : worded(words[only], parts[only], company);
}

const labelOf = ({ words, parts }: Holders, part: Part): string => {
  const [one, more] = words.labels[part];
  return parts[part].length === 1 ? one : more;
};

const tagLineOf = (holders: Holders): Phrase =>
  PARTS.filter((part) => holders.parts[part].length > 0).flatMap(
    (part, at): Phrase => [
      at === 0 ? '' : ' ',
      `${labelOf(holders, part)}: `,
      ...shortList(
        holders.parts[part].map((holder) => [named(holder), inBrackets(sharesOf(part, holder))]),
        SHOWN,
      ),
      '.',
    ],
  );

const sections = (holders: Holders): readonly ArticleBlock[] =>
  PARTS.filter((part) => holders.parts[part].length > 0).map((part) => ({
    kind: 'list',
    title: labelOf(holders, part),
    lines: holders.parts[part].map((holder): Phrase => {
      const shares = sharesOf(part, holder);
      return [named(holder), shares === undefined ? '' : `: ${shares}`];
    }),
  }));

const inBrackets = (text: string | undefined): string => (text === undefined ? '' : ` (${text})`);

/** "10–15 % → 15–20 %", or the known part of it. */
function sharesOf(part: Part, { now, before }: Holder): string | undefined {
  if (part !== 'changed') return now === null ? undefined : shareText(now);
  if (before !== null && now !== null) return `${shareText(before)} → ${shareText(now)}`;
  if (now !== null) return `nu ${shareText(now)}`;
  return before === null ? undefined : `før ${shareText(before)}`;
}

function subsidiary(change: Change, founded: Entity & { ownership: string | null }): NewsDraft {
  const parts = { company: subject(change), subsidiary: [named(founded)] };
  const owned = founded.ownership === null ? '' : shareText(founded.ownership);
  const sentence = fill(
    owned === '' ? '[company] er registreret som ejer af [subsidiary].' : '[company] ejer [share] af [subsidiary].',
    { ...parts, share: [owned] },
  );
  return {
    type: 'Ownership',
    headline: fill('[company] har stiftet et datterselskab: [subsidiary]', parts),
    tagLine: sentence,
    content: [
      { kind: 'paragraph', text: fill('[company] har stiftet datterselskabet [subsidiary].', parts) },
      ...(owned === '' ? [] : [{ kind: 'paragraph' as const, text: sentence }]),
    ],
  };
}
