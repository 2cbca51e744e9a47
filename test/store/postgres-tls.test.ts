/** A PostgreSQL that speaks TLS: which certificates cvrsync accepts, and what it reports about the others. */
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import { freePort } from '../acceptance/ports.ts';
import { createAuthority } from '../support/certificates.ts';
import { createDatabase, initialise, launch, newPlace, quit, urlAt } from '../support/postgres.ts';
import { emptyStoreUrl } from '../support/stores.ts';

const place = newPlace();
const [ownCa, otherCa] = [join(place.folder, 'own-ca.pem'), join(place.folder, 'other-ca.pem')];
let port = 0;
let database = '';
let stop = async () => {};

beforeAll(async () => {
  const authority = createAuthority('our CA');
  const { certificate, key } = authority.issue('localhost');
  writeFileSync(ownCa, authority.certificate);
  writeFileSync(otherCa, createAuthority('another CA').certificate);
  const { uid, gid } = place.options;
  const files = { 'server.crt': certificate, 'server.key': key };
  for (const [name, text] of Object.entries(files)) {
    const file = join(place.folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
  }
  const data = join(place.folder, 'data');
  await initialise(place, data);
  port = await freePort();
  const server = await launch(place, { data, socket: place.folder }, [
    'fsync=off',
    'ssl=on',
    `ssl_cert_file=${place.folder}/server.crt`,
    `ssl_key_file=${place.folder}/server.key`,
    'listen_addresses=127.0.0.1',
    `port=${port}`,
  ]);
  stop = async () => {
    await quit(server);
    await place.remove();
  };
  const url = new URL(urlAt(place.folder));
  url.port = String(port);
  database = new URL(await createDatabase(url.href)).pathname;
});
afterAll(() => stop());

const addressOf = (host: string, query: string) => `postgres://postgres@${host}:${port}${database}?${query}`;

it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'sslmode=%s accepts the certificate of a named CA for the host that it names, and no other',
  async (mode) => {
    const named = `sslmode=${mode}&sslrootcert=${ownCa}`;
    const store = await openStore(addressOf('localhost', named));
    const { rows } = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.db);
    await store.close();
    expect(rows).toEqual([{ ssl: true }]);
    await expect(openStore(addressOf('127.0.0.1', named))).rejects.toThrow(
      /not in the cert's .*: the certificate of PostgreSQL names another host: use a name from the certificate in the address/u,
    );
    for (const other of ['', `&sslrootcert=${otherCa}`])
      await expect(openStore(addressOf('localhost', `sslmode=${mode}${other}`))).rejects.toThrow(
        /: add sslrootcert=\/path\/of\/its\/ca.pem to the address/u,
      );
  },
);

it('sslmode=require reaches no server that speaks plain text, and says what to change', async () => {
  await expect(openStore(`${await emptyStoreUrl('postgres')}&sslmode=require`)).rejects.toThrow(
    /enable `ssl` in PostgreSQL/u,
  );
});
