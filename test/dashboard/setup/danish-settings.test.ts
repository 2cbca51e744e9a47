/** A form that is made of a schema reads in Danish, too: each description of our own settings has its Danish. */
import type { TObject } from 'typebox';
import { expect, it } from 'vitest';
import { BUILT_IN } from '../../../providers/index.ts';
import { loadProvider } from '../../../src/config/plugins/plugin.ts';
import { alerts } from '../../../src/config/schema/alerts.ts';
import { readerOf } from '../../../src/dashboard/page/reader.ts';
import { said } from '../../../src/dashboard/page/said.ts';
import { SOURCE, YOU } from '../../../src/setup/draft.ts';
import { type QuestionPart, questionsOf } from '../../../src/setup/questions.ts';

const aboutOf = (part: QuestionPart): readonly string[] => {
  const below = part.kind === 'group' ? part.parts : part.kind === 'choice' ? part.options : [];
  const inside = below.flatMap((each) =>
    'kind' in each ? aboutOf(each) : [each.about, ...each.parts.flatMap(aboutOf)],
  );
  return [part.about, ...inside].filter((about) => about !== '');
};

it('each setting of our providers and of the set-up has a Danish translation', async () => {
  const loaded = await Promise.all(Object.keys(BUILT_IN).map((name) => loadProvider(name, '.')));
  const schemas: readonly TObject[] = [
    SOURCE,
    YOU,
    alerts,
    ...loaded.flatMap((load) => (load.ok ? [load.provider.settings] : [])),
  ];
  const abouts = loaded.flatMap((load) => (load.ok ? [load.provider.about] : []));
  const texts = [...abouts, ...schemas.flatMap((schema) => questionsOf(schema).flatMap(aboutOf))];
  const danish = readerOf('da');
  expect([...new Set(texts)].filter((text) => typeof said(danish, text) !== 'string')).toEqual([]);
});
