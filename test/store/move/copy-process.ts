/** A process of its own for tests: copies the store at the first argument to the second, and is killed after some pages. */
import { PLACES } from '../../../src/commands/erase/places.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import { closeBoth, planCopy } from '../../../src/store/move/begin.ts';
import { copyRows } from '../../../src/store/move/copy.ts';
import { commonTables } from '../../../src/store/move/rows.ts';

const [, , fromUrl = '', toUrl = '', pages = '0'] = process.argv;
const from = await openStore(fromUrl, { migrate: false, mayBeMoved: true });
const to = await openStore(toUrl, { migrate: 'new', mayBeMoved: true });
const tables = await commonTables(from.db, to.db, Object.keys(PLACES).toSorted());
const places = { from, to, fromUrl, toUrl, tables };
await closeBoth(places, await planCopy(places, Date.now()), async () => {}, Date.now());
let left = Number(pages);
await copyRows({
  from,
  to,
  tables,
  signal: new AbortController().signal,
  now: Date.now,
  mostRows: 2,
  report() {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
