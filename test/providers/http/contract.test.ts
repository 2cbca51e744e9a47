/** An API of one's own under the suite that every provider passes: one that tells all, and one that tells nothing. */
import { startHttpEmulator } from '../../../providers/http/emulator/emulator.ts';
import { http } from '../../../providers/http/provider.ts';
import { describeConformance } from '../conforms.ts';

const TOKEN = 'Bearer secret-of-the-contract';

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
  absentId: '8000001',
  calls: { read: 'GET /companies/', update: 'POST /companies/', create: 'POST /companies$' },
};
const lacks = {
  merge: 'companies of such an API are not merged',
  answers: 'any 2xx is a success, whatever is in it',
};

describeConformance('an API that can be read', {
  ...common,
  start: () => startHttpEmulator({ authValue: TOKEN }),
  lacks,
});

describeConformance('an API that tells nothing', {
  ...common,
  start: () => startHttpEmulator({ authValue: TOKEN, blind: true }),
  lacks: {
    ...lacks,
    check: 'without listUrl nothing can be asked of it',
    read: 'without readUrl nothing can be read',
    scan: 'without listUrl its companies cannot be listed',
  },
});
