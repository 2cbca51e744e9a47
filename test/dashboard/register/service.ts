/** The service alone in a whole app, reading an emulated register, for pages that tell of it. */
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { type RegisterEmulator, serveRegister } from '../../../src/commands/emulate/register.ts';
import { checked } from '../../support/config.ts';
import { newFolder } from '../../support/stores.ts';

export interface StartedService {
  readonly app: App;
  readonly register: RegisterEmulator;
  /** The CVR numbers that the register has. */
  readonly numbers: readonly string[];
}

/** Starts it; `register` changes the settings of its register, `half` those of the service, `more` all others. All of it ends with the test. */
export async function startService(
  register: object = {},
  more: object = {},
  half: object = {},
): Promise<StartedService> {
  const emulator = await serveRegister({ companies: 3, password: 'secret-of-the-register' });
  onTestFinished(() => emulator.close());
  const service = { register: { ...emulator.settings, pollSeconds: 1, ...register }, ...half };
  const { config } = await checked({
    server: { port: 0 },
    admin: { port: 0 },
    store: `${newFolder()}/store.db`,
    service,
    ...more,
  });
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  return { app, register: emulator, numbers: [...emulator.documents.virksomhed.keys()] };
}
