/**
 * In every worker: fast-check tries the same in each run of the suite, so that CI refuses no change by chance. `npm run test:all`
 * tries what is new each time. A failure says its seed and its path, for `fc.assert`.
 */
import fc from 'fast-check';
import { ALL } from './all.ts';

if (!ALL) fc.configureGlobal({ seed: 1 });
