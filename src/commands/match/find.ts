/** `match find`: shows the candidates for one described company. */

import { reasonText } from '../../match/evidence/weights.ts';
import { matchRecords } from '../../match/match.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, needed, oneOf, text } from '../cli/command.ts';
import { needIndex } from './need-index.ts';

export const find = defineCommand({
  name: 'find',
  examples: ['match find "Birk Byg ApS" --postal-code 8000'],
  about:
    'show the candidates for one company, as a record of the CRM would describe it; exit code 3 if none is certain',
  args: { name: needed('the name') },
  options: {
    street: text('the street with its number'),
    postalCode: text('the postal code'),
    city: text('the town'),
    country: text('the country'),
    phone: text('a phone number'),
    website: text('a website'),
    email: text('an e-mail address'),
    language: oneOf(['en', 'da'], 'the language of the reasons (default en)'),
  },
  run: (context, { name }, { language = 'en', ...parts }) =>
    withStore(context, async ({ db }) => {
      await needIndex(db);
      const given = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
      const [result] = await matchRecords(db, [{ name, ...given }]);
      const { confidence = 'none', candidates = [] } = result ?? {};
      const rows = candidates.map((one) => ({
        number: one.company,
        name: one.name,
        score: one.score,
        reasons: one.findings.map((finding) => reasonText(finding, language)).join('; '),
      }));
      const lines = rows.map((row) => `  ${row.number}  ${row.name}  (${row.score}: ${row.reasons})`);
      context.output.result({ confidence, candidates: rows }, [confidence, ...lines].join('\n'));
      return confidence === 'certain' ? 0 : 3;
    }),
});
