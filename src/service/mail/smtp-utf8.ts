/** Whether a mail server accepts addresses with letters outside ASCII before the `@` (SMTPUTF8, RFC 6531). */
import { onAbort } from '../../http/outbound/on-abort.ts';
import { addressOf } from './address.ts';

/** Whether an address, or the address of a sender, needs SMTPUTF8. Domains go out as ASCII. */
export function needsUtf8(sender: string): boolean {
  const address = addressOf(sender);
  return /[^\p{ASCII}]/u.test(address.slice(0, Math.max(address.lastIndexOf('@'), 0)));
}

/**
 * Asks the server without sending or logging in. The library reveals a server's extensions only to a login method, so
 * this one reads them and stops. Rejects if the server cannot be reached, or with the signal.
 */
export async function offersUtf8(url: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const { createTransport } = await import('nodemailer');
  const address = new URL(url);
  address.username = '';
  address.password = '';
  let offers = false;
  const transport = createTransport({
    url: address.href,
    auth: { type: 'custom', method: 'LOOK', user: 'nobody' },
    forceAuth: true,
    customAuth: {
      LOOK({ extensions, resolve }) {
        offers = extensions.includes('SMTPUTF8');
        resolve();
      },
    },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  const gone = Promise.withResolvers<never>();
  const forget = onAbort(signal, () => gone.reject(new Error('the mail server did not answer in time')));
  try {
    await Promise.race([transport.verify(), gone.promise]);
    return offers;
  } finally {
    forget();
    transport.close();
  }
}
