/** Publishes changes one after the other, for ever, on the store at the first argument; says where it is. */
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { changed, NOW } from './monitored.ts';

const [, , url = ''] = process.argv;
const store = await openStore(url);
for (let number = 1; ; number++) {
  process.stdout.write(`begun ${number}\n`);
  await store.write((tx) => publish(tx, [changed({ id: `change ${number}` })], { now: NOW }));
}
