import { expect, test } from 'vitest';
import { leftOut } from './left-out.ts';

test('a run says in one line what it leaves to the night', () => {
  const sources = [
    "import { ALL } from '../support/all.ts';\n",
    "import { newStore, SUITE_ENGINES } from './stores.ts';\n",
    "import { casesOf } from './support/all.ts';\nimport { SUITE_ENGINES } from './stores.ts';\n",
    "import { ENGINES } from './stores.ts';\n",
  ];
  expect(leftOut(3, sources)).toBe(
    'Left to the night (npm run test:all): 3 whole tests, 2 files with more cases, 2 files on PostgreSQL as well.',
  );
  expect(leftOut(0, sources.slice(3))).toBeUndefined();
});
