import type { Db } from '../../store/store.ts';
import type { DeliveryBodies, DeliveryBody } from './bodies.ts';
import { dueHeads, type Head } from './due.ts';
import type { Slots } from './limits/slots.ts';

export interface DueDelivery {
  readonly head: Head;
  readonly body: DeliveryBody | undefined;
}

export interface DueQueue {
  next(): DueDelivery | undefined;
  readonly isEmpty: boolean;
  readonly mayHaveMore: boolean;
  expectMore(): void;
  /** Loads due deliveries, except those of busy companies. Call it only when the queue is empty. */
  refill(busy: ReadonlySet<string>): Promise<void>;
}

export interface DueQueueDeps {
  readonly db: Db;
  readonly now: () => number;
  readonly bodies: DeliveryBodies;
  /** Limits concurrent queries: ten thousand would wait for a connection until they fail. */
  readonly looks: Slots;
}

const PAGE = 256;

export function createDueQueue({ db, now, bodies, looks }: DueQueueDeps, monitor: string): DueQueue {
  let waiting: DueDelivery[] = [];
  let mayHaveMore = true;

  return {
    next: () => waiting.shift(),
    get isEmpty() {
      return waiting.length === 0;
    },
    get mayHaveMore() {
      return mayHaveMore;
    },
    expectMore() {
      mayHaveMore = true;
    },
    async refill(busy) {
      mayHaveMore = false;
      // A delivery that ends meanwhile may still look due: leave its company to the next query.
      const before = new Set(busy);
      const asked = before.size + PAGE;
      await looks.take();
      try {
        const heads = await dueHeads(db, monitor, now(), asked);
        if (heads.length === asked) mayHaveMore = true;
        const fresh = heads.filter(({ entity }) => !before.has(entity));
        const loaded = await bodies.load(db, fresh);
        waiting = fresh.map((head, at) => ({ head, body: loaded[at] }));
      } finally {
        looks.give();
      }
    },
  };
}
