/** Connections under a guard, which checks the literal host, every address of a name, and the connected peer. */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { AddressError, type Guard } from './guard.ts';
import { skippingContinue } from './skip-continue.ts';

class NameError extends Error {
  override readonly name = 'NameError';
  readonly code = 'ENOTFOUND';
}

/**
 * Makes the connector of an agent. It looks a name up once and connects to the checked address, so a later DNS answer
 * changes nothing. `connectMs` covers look-up, connection and TLS together.
 */
export function guardedConnector(guard: Guard, connectMs: number): buildConnector.connector {
  const common = { timeout: connectMs, allowH2: false, autoSelectFamilyAttemptTimeout: 1_000 };
  const free = buildConnector({ ...common, lookup: lookupBy(guard, () => undefined) });
  const guarded = buildConnector({ ...common, lookup: lookupBy(guard, guard.refusal) });
  return skippingContinue((options, callback) => {
    if (guard.trusts(`${options.protocol}//${options.host ?? options.hostname}`)) return free(options, callback);
    // Node makes no look-up for an address: https://nodejs.org/api/net.html#socketconnectoptions-connectlistener
    const refused = isIP(options.hostname) === 0 ? undefined : guard.refusal(options.hostname);
    if (refused !== undefined) return callback(new AddressError(`the host is ${refused}`), null);
    guarded(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const wrong = wrongPeer(guard, socket);
      if (wrong === undefined) return callback(null, socket);
      socket.destroy();
      callback(new AddressError(`the connection went to ${wrong}`), null);
    });
  });
}

/** A socket without a peer is already closed, so that writes to it reach no one. */
const wrongPeer = (guard: Guard, { remoteAddress }: Socket): string | undefined =>
  remoteAddress === undefined ? undefined : guard.refusal(remoteAddress);

function lookupBy(guard: Guard, refusal: Guard['refusal']): LookupFunction {
  return (hostname, options, callback) => {
    guard.resolve(hostname).then(
      (addresses) => {
        const refused = addresses.map(refusal).find((why) => why !== undefined);
        const [first] = addresses;
        if (refused !== undefined) callback(new AddressError(`the host name resolves to ${refused}`), '', 0);
        else if (first === undefined) callback(new NameError('the name has no address'), '', 0);
        else if (options.all === true)
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        else callback(null, first, isIP(first));
      },
      (error) => callback(new NameError('the name was not found', { cause: error }), '', 0),
    );
  };
}
