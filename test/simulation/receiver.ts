/** A receiver of webhooks that is not ours, and remembers everything. */
import type { EmulatorHandler } from '../../providers/kit/emulator/emulator.ts';
import type { Payload } from '../../src/protocol/payload.ts';

export interface Post {
  /** The `webhook-id`. */
  readonly id: string;
  readonly entity: string;
  readonly timestamp: string;
  readonly updates: Payload['updates'];
  readonly body: string;
}

export interface Receiver {
  readonly handle: EmulatorHandler;
  /** All that came in, repeats too, in order. */
  readonly posts: Post[];
  monitor: string;
}

export function openReceiver(): Receiver {
  const posts: Post[] = [];
  return {
    posts,
    monitor: '',
    handle({ headers, body }) {
      const { entityId: entity, timestamp, updates }: Payload = JSON.parse(body);
      posts.push({ id: String(headers['webhook-id']), entity, timestamp, updates, body });
      return { status: 204 };
    },
  };
}
