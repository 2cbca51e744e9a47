/** Two processes send mail from one store; one freezes between claiming a mail and sending it. */
import { expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { handClock } from '../../support/clock.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { lanes } from '../monitored.ts';
import { addMonitor, mailWorker, tell } from './fixture.ts';
import { startMailServer } from './mail-server.ts';

const WAITING = { timeout: 120_000, interval: 20 };

test.each(ENGINES)('a process that froze sends no mail that another has sent (%s)', async (engine) => {
  const [store, office, clock] = [await newStore(engine), await startMailServer(), handClock()];
  await addMonitor(store);
  await tell(store, clock.now());
  const standsStill = async (): Promise<void> => {
    clock.forward(40_000);
    mailWorker(store, office.url, clock.now);
    await expect.poll(() => lanes(store, 'mail'), WAITING).toEqual([]);
    expect(office.mails).toHaveLength(1);
  };
  let frozen = false;
  const write: Store['write'] = async (work) => {
    const written = await store.write(work);
    const isMail = typeof written === 'object' && written !== null && 'message' in written;
    if (isMail && !frozen) {
      frozen = true;
      await standsStill();
    }
    return written;
  };
  const { logged } = mailWorker({ ...store, write }, office.url, clock.now);
  await expect
    .poll(() => logged.map(({ message }) => message), WAITING)
    .toEqual([expect.stringContaining('another process sends the mail')]);
  expect(office.mails).toHaveLength(1);
});
