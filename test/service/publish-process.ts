/** Publishes changes endlessly on the store at the first argument, and prints its progress. */
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { changed, NOW } from './monitored.ts';

const [, , url = ''] = process.argv;
const store = await openStore(url);
for (let number = 1; ; number++) {
  process.stdout.write(`begun ${number}\n`);
  await store.write((tx) => publish(tx, [changed({ id: `change ${number}` })], { now: NOW }));
}
