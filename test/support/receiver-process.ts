/** A receiver in a process of its own, on the store at the first argument. With a number it posts that many events to itself, one after another, and ends. */
import { openStore } from '../../src/store/engines/open.ts';
import { openReceiver, phoneEvent, post } from './receiver.ts';

const [, , file = '', count] = process.argv;
const store = await openStore(file);
const receiver = await openReceiver(store);
if (count === undefined) process.stdout.write(`${receiver.url}\n`);
else {
  let acked = 0;
  for (let number = 0; number < Number(count); number++) {
    if ((await post(receiver.url, phoneEvent(number))).status === 204) acked += 1;
  }
  process.stdout.write(`${acked}\n`);
  await receiver.close();
  await store.close();
}
