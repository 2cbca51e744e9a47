/** `token`: prints the token that programs send to the admin listener. */
import { adminTokenOf } from '../halves.ts';
import { requireStore } from './arguments/with-store.ts';
import { defineCommand } from './cli/command.ts';

export const command = defineCommand({
  name: 'token',
  examples: ['token'],
  audit: 'token.print',
  about: 'print the admin token, which programs send to the admin listener',
  run: async (context) => {
    const config = await context.config(['admin.token', 'service.secretKey']);
    if (config.admin.token !== undefined)
      throw new Error('the admin token is the one in the configuration: admin.token, which is not shown');
    // The token file is next to the store: without a store, the token would belong to no daemon.
    requireStore(config.store);
    const token = await adminTokenOf(config);
    if (token === undefined)
      throw new Error('there is no admin token: a PostgreSQL store needs admin.token or service.secretKey for one');
    context.output.result({ token }, token);
    return 0;
  },
});
