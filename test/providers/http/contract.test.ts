/** The provider for an API of one's own under the suite that every provider passes: one API shows all, another nothing. */

import { http } from '../../../providers/http/provider.ts';
import { type HttpEmulatorOptions, startHttpEmulator } from '../../../providers/kit/http/emulator.ts';
import { describeConformance } from '../conforms.ts';

const TOKEN = 'Bearer secret-of-the-contract';

/** The API, with a property that it sets by itself: the settings say so, for nobody can ask it. */
async function started(options: HttpEmulatorOptions) {
  const emulator = await startHttpEmulator(options);
  const properties = [{ name: 'changedAt', type: 'datetime', readOnly: true }];
  return { ...emulator, settings: { ...emulator.settings, properties } };
}

const common = {
  provider: http,
  module: new URL('../../../providers/http/provider.ts', import.meta.url).href,
  secrets: [TOKEN, 'secret-of-the-contract'],
  properties: {
    text: 'name',
    long: 'purpose',
    number: 'employees',
    date: 'startDate',
    datetime: 'reportPublished',
    boolean: 'advertisingProtected',
  },
  refused: { property: 'email', value: 'no address' },
  readOnly: 'changedAt',
  absentId: '8000001',
  calls: { read: 'GET /companies/', update: 'POST /companies/', create: 'POST /companies$' },
};
const lacks = {
  merge: 'companies of such an API are not merged',
  answers: 'any 2xx is a success, whatever is in it',
};

describeConformance('an API that can be read', {
  ...common,
  start: () => started({ authValue: TOKEN }),
  lacks,
});

describeConformance('an API that tells nothing', {
  ...common,
  start: () => started({ authValue: TOKEN, blind: true }),
  lacks: {
    ...lacks,
    check: 'without listUrl nothing can be asked of it',
    read: 'without readUrl nothing can be read',
    scan: 'without listUrl its companies cannot be listed',
  },
});
