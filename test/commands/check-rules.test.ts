/** What `check` says before the first write: the rules of the account that may refuse it, and what a CRM cannot do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../support/cli.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

interface Finding {
  readonly level: string;
  readonly subject: string;
  readonly found: string;
  readonly advice?: string;
}

test('required properties, validation rules and duplicate rules of both CRMs are listed as information', async () => {
  const fixture = await startFixture({
    hubspot: {
      requiredProperties: ['phone'],
      validations: [{ property: 'zip', ruleType: 'ALPHANUMERIC', ruleArguments: ['NUMERIC_ONLY'] }],
    },
    salesforce: {
      listed: {
        validation: [{ name: 'Phone_Required', message: 'Enter a phone number' }],
        duplicate: Array.from({ length: 25 }, (_, at) => `Account_Rule_${at}`),
      },
      fields: [{ name: 'Segment__c', label: 'Segment', nillable: false, required: true }],
    },
  });
  const { stdout } = await fixture.cli('--json', 'check');
  const findings: readonly Finding[] = JSON.parse(stdout);
  const of = (subject: string): readonly string[] =>
    findings.filter((one) => one.subject === subject).map(({ level, found }) => `${level} ${found}`);
  expect(of('hubspot rules')).toEqual([
    'info phone (must be filled in): a company must have Phone Number (phone)',
    'info ALPHANUMERIC (a validation rule): Postal Code (zip): NUMERIC_ONLY',
    expect.stringMatching(/^info cvr_number \(a duplicate rule\): two companies may not have the same/u),
  ]);
  const salesforce = of('salesforce rules');
  expect(salesforce).toEqual(
    expect.arrayContaining([
      'info Segment__c (must be filled in): Segment may not be blank',
      'info Phone_Required (a validation rule): Enter a phone number',
      'info Account_Rule_0 (a duplicate rule): Account_Rule_0',
      'info and 7 more',
    ]),
  );
});

test('an option that the CRM does not support causes a warning', async () => {
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const own = { use: 'http', updateUrl: 'http://127.0.0.1:9/{id}', match: { property: 'cvr' }, autoLink: true };
  const providers = { own: { ...own, notes: ['status'], parent: true } };
  const connector = { webhook: { auth: { method: 'None' } }, providers };
  writeFileSync(file, JSON.stringify({ store: join(folder, 's.db'), connector }));
  const { stdout } = await runCli(['--config', file, '--json', 'check']);
  const findings: readonly Finding[] = JSON.parse(stdout);
  expect(findings.filter(({ subject, level }) => subject === 'own' && level === 'warn')).toEqual([
    expect.objectContaining({
      found: 'this provider does not support notes',
      advice: expect.stringContaining('take notes'),
    }),
    expect.objectContaining({ found: 'this provider does not support parents' }),
    expect.objectContaining({ found: 'nothing reports new records here' }),
  ]);
});
