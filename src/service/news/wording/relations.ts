/** News of people who joined or left: auditor, board, management, fully liable partners. */

import { numberText } from '../../../protocol/describe/danish.ts';
import { renamedIn } from '../../../protocol/describe/describe.ts';
import type { EventData } from '../../../protocol/events.ts';
import type { Entity } from '../../../protocol/formats.ts';
import type { NewsType } from '../../../protocol/news.ts';
import { type DraftOf, subject } from './draft.ts';
import { type ArticleBlock, fill, list, type Named, type Phrase, shortList } from './phrase.ts';

/** The wording for one, for two, and for more than two, which gives their number. */
type Wording = readonly [one: string, two: string, many: string];

interface Words {
  readonly type: NewsType;
  readonly event: 'accountant' | 'board' | 'management' | 'stakeholders';
  readonly added: Wording;
  readonly removed: Wording;
  readonly both: string;
  /** Text before the names, for one and for more. */
  readonly addedLabel: readonly [one: string, more: string];
  readonly removedLabel: readonly [one: string, more: string];
}

const WORDS: readonly Words[] = [
  {
    type: 'Accountant',
    event: 'accountant',
    added: [
      '[who] er ny revisor for [company]',
      '[who] er nye revisorer for [company]',
      '[company] har fået [number] nye revisorer',
    ],
    removed: [
      '[who] er ikke længere revisor for [company]',
      '[who] er ikke længere revisorer for [company]',
      '[number] revisorer er fratrådt i [company]',
    ],
    both: '[company] har skiftet revisor',
    addedLabel: ['Ny revisor', 'Nye revisorer'],
    removedLabel: ['Fratrådt revisor', 'Fratrådte revisorer'],
  },
  {
    type: 'Board',
    event: 'board',
    added: [
      '[who] er indtrådt i bestyrelsen for [company]',
      '[who] er indtrådt i bestyrelsen for [company]',
      '[number] nye medlemmer i bestyrelsen for [company]',
    ],
    removed: [
      '[who] er udtrådt af bestyrelsen for [company]',
      '[who] er udtrådt af bestyrelsen for [company]',
      '[number] medlemmer er udtrådt af bestyrelsen for [company]',
    ],
    both: 'Ændringer i bestyrelsen for [company]',
    addedLabel: ['Indtrådt i bestyrelsen', 'Indtrådt i bestyrelsen'],
    removedLabel: ['Udtrådt af bestyrelsen', 'Udtrådt af bestyrelsen'],
  },
  {
    type: 'Management',
    event: 'management',
    added: [
      '[who] er indtrådt i direktionen for [company]',
      '[who] er indtrådt i direktionen for [company]',
      '[number] nye medlemmer i direktionen for [company]',
    ],
    removed: [
      '[who] er udtrådt af direktionen for [company]',
      '[who] er udtrådt af direktionen for [company]',
      '[number] medlemmer er udtrådt af direktionen for [company]',
    ],
    both: 'Ændringer i direktionen for [company]',
    addedLabel: ['Indtrådt i direktionen', 'Indtrådt i direktionen'],
    removedLabel: ['Udtrådt af direktionen', 'Udtrådt af direktionen'],
  },
  {
    type: 'Stakeholder',
    event: 'stakeholders',
    added: [
      '[who] er ny fuldt ansvarlig deltager i [company]',
      '[who] er nye fuldt ansvarlige deltagere i [company]',
      '[number] nye fuldt ansvarlige deltagere i [company]',
    ],
    removed: [
      '[who] er ikke længere fuldt ansvarlig deltager i [company]',
      '[who] er ikke længere fuldt ansvarlige deltagere i [company]',
      '[number] fuldt ansvarlige deltagere er udtrådt af [company]',
    ],
    both: 'Ændringer blandt de fuldt ansvarlige deltagere i [company]',
    addedLabel: ['Ny fuldt ansvarlig deltager', 'Nye fuldt ansvarlige deltagere'],
    removedLabel: ['Udtrådt fuldt ansvarlig deltager', 'Udtrådte fuldt ansvarlige deltagere'],
  },
];

/** The names in a tag line; it counts others. */
const SHOWN = 3;

/** Payloads may lack the name. */
export const named = ({ entityId, name }: Entity): Named => ({ entityId, name: name ?? '' });

export function worded(wording: Wording, entities: readonly Entity[], company: Phrase): Phrase {
  const [one, two, many] = wording;
  const who = list(entities.map((entity) => [named(entity)]));
  const template = entities.length === 1 ? one : entities.length === 2 ? two : many;
  return fill(template, { who, company, number: [numberText(entities.length)] });
}

export const relations: readonly DraftOf[] = WORDS.map(
  (words): DraftOf =>
    (change) => {
      const found = change.updates[words.event];
      // A new name of a member is not news.
      const data = found && renamedIn(found);
      if (data === undefined || data.added.length + data.removed.length === 0) return undefined;
      return {
        type: words.type,
        headline: headlineOf(words, data, subject(change)),
        tagLine: sections(words, data).flatMap(
          ({ label, entities }, at): Phrase => [
            at === 0 ? '' : ' ',
            `${label}: `,
            ...shortList(
              entities.map((entity) => [named(entity)]),
              SHOWN,
            ),
            '.',
          ],
        ),
        content: [
          { kind: 'paragraph', text: [...headlineOf(words, data, subject(change)), '.'] },
          ...sections(words, data).map(
            ({ label, entities }): ArticleBlock => ({
              kind: 'list',
              title: label,
              lines: entities.map((entity) => [named(entity)]),
            }),
          ),
        ],
      };
    },
);

type Data = Pick<EventData<'board'>, 'added' | 'removed'>;

function headlineOf(words: Words, { added, removed }: Data, company: Phrase): Phrase {
  if (added.length > 0 && removed.length > 0) return fill(words.both, { company });
  return added.length > 0 ? worded(words.added, added, company) : worded(words.removed, removed, company);
}

function sections({ addedLabel, removedLabel }: Words, { added, removed }: Data) {
  const label = ([one, more]: readonly [string, string], { length }: readonly unknown[]) => (length === 1 ? one : more);
  return [
    { label: label(addedLabel, added), entities: added },
    { label: label(removedLabel, removed), entities: removed },
  ].filter(({ entities }) => entities.length > 0);
}
