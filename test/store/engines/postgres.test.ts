/** What cvrsync requires of PostgreSQL, and of the connection to it. */
import { sql } from 'kysely';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/engines/open.ts';
import { adviceFor, withFullCheck } from '../../../src/store/engines/postgres-advice.ts';
import { emptyStoreUrl, newStoreUrl } from '../../support/stores.ts';
import { transactionPooler } from '../../support/transaction-pooler.ts';

/** Runs a statement on the database of a store. */
async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

describe('a database', () => {
  it.each(['SQL_ASCII', 'LATIN1'])('in %s is refused, with the statement that makes a right one', async (encoding) => {
    const server = await emptyStoreUrl('postgres');
    const name = `encoded_${encoding.toLowerCase()}_${process.pid}`;
    await run(server, `create database ${name} encoding '${encoding}' locale 'C' template template0`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await expect(openStore(url.href)).rejects.toThrow(
      `The database ${name} has the encoding ${encoding}, which cannot hold every text: create one with \`create database cvrsync encoding 'UTF8' template template0\``,
    );
    await run(server, `drop database ${name}`);
  });

  it('that does not exist is refused with the statement that creates it', async () => {
    const url = new URL(await emptyStoreUrl('postgres'));
    url.pathname = '/nowhere';
    await expect(openStore(url.href)).rejects.toThrow(
      /"nowhere" does not exist\): create it: `create database cvrsync/,
    );
  });

  it('shows in its sessions the name that the daemon or the address gives', async () => {
    const url = await newStoreUrl('postgres');
    const named = async (address: string) => {
      const store = await openStore(address, { application: 'cvrsync 1.2.3 ingest,sync' });
      const { rows } = await sql<{ name: string; idle: string }>`select current_setting('application_name') as name,
        current_setting('idle_in_transaction_session_timeout') as idle`.execute(store.db);
      await store.close();
      return rows[0];
    };
    expect(await named(url)).toEqual({ name: 'cvrsync 1.2.3 ingest,sync', idle: '15s' });
    expect(await named(`${url}&application_name=left`)).toMatchObject({ name: 'left' });
  });
});

describe('a pooler in transaction mode', () => {
  it('is refused, with what to set', async () => {
    const url = await transactionPooler(await newStoreUrl('postgres'));
    await expect(openStore(url)).rejects.toThrow(
      /^The store is reached through a pooler that shares sessions, such as PgBouncer with pool_mode = transaction: .* Set pool_mode = session/,
    );
  });
});

describe('TLS', () => {
  it.each(['prefer', 'require', 'verify-ca'])(
    'by sslmode=%s checks the certificate and the name, as it will later',
    (mode) => {
      const checked = 'postgres://u:sslmode@db/cvr?sslmode=verify-full&sslrootcert=/ca.pem';
      expect(withFullCheck(checked.replace('verify-full', mode))).toBe(checked);
    },
  );

  it('follows the address if that asks for the behaviour of libpq, or for none', () => {
    for (const query of ['sslmode=require&uselibpqcompat=true', 'sslmode=disable', 'sslmode=no-verify', 'x=require'])
      expect(withFullCheck(`postgres://db/cvr?${query}`)).toBe(`postgres://db/cvr?${query}`);
  });

  it('that is not trusted asks for sslrootcert, and one of another host for its name', () => {
    const coded = (code: string) => Object.assign(new Error('no'), { code });
    expect(adviceFor(coded('SELF_SIGNED_CERT_IN_CHAIN'))).toContain('sslrootcert=');
    expect(adviceFor(coded('ERR_TLS_CERT_ALTNAME_INVALID'))).toContain('names another host');
    expect(adviceFor(new Error('The server does not support SSL connections'))).toContain('enable `ssl`');
  });
});
