/** Delivers what is due in the store at the first argument, sealed with the key at the second, until it is killed. */

import { createMetrics } from '../../src/http/metrics.ts';
import { createGuard } from '../../src/http/outbound/guard.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { startDelivery } from '../../src/service/delivery/deliver.ts';
import { openWebhookClient } from '../../src/service/delivery/post.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { openStore } from '../../src/store/engines/open.ts';

const [, , file = '', key = ''] = process.argv;
const { http } = openWebhookClient(createGuard({ allow: ['127.0.0.1'] }));
startDelivery({
  store: await openStore(file),
  wakeUp: createWakeUp(),
  secrets: openSecrets(Buffer.from(key, 'base64')),
  now: Date.now,
  http,
  metrics: createMetrics(),
  log: { error: (detail, message) => void process.stderr.write(`${message} ${JSON.stringify(detail)}\n`), warn() {} },
  leaseMs: 600,
  pollMs: 100,
});
