/** A crawl by each role over every route and method that the dashboard has: who is let in where, and nobody by another method. */

import { request } from 'undici';
import { expect, it } from 'vitest';
import { ROLES } from '../../src/runtime/operators/operators.ts';
import { ofStranger } from '../support/stranger.ts';
import { LEAST_ROLES } from './least-roles.ts';
import { startPages, type Visitor } from './visitor.ts';

const cookieOf = ({ cookies }: Visitor): string => [...cookies].map((pair) => pair.join('=')).join('; ');

/** Forms come without their token: who may send one is asked to confirm it, and nothing is done. */
async function openCrawl() {
  const { base, routes, signedIn } = await startPages({ trustProxy: ['127.0.0.1'] });
  const cookies = new Map([['stranger', '']]);
  for (const role of ROLES) cookies.set(role, cookieOf(await signedIn(role)));
  async function ask(role: string, method: string, pattern: string) {
    const headers = {
      ...ofStranger(),
      'sec-fetch-site': 'same-origin',
      cookie: cookies.get(role) ?? '',
      ...(method === 'GET' ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const path = pattern.replaceAll(/:\w+|\*/g, 'x');
    const answer = await request(base + path, { method, headers, body: method === 'GET' ? null : 'a=b' });
    const text = await answer.body.text();
    expect(answer.statusCode, `${role} ${method} ${path}`).toBeLessThan(500);
    return { status: answer.statusCode, location: String(answer.headers['location']), text };
  }
  return {
    routes,
    async isLetIn(role: string, method: string, pattern: string): Promise<boolean> {
      const { status, location, text } = await ask(role, method, pattern);
      return status !== 401 && !location.startsWith('/login') && !text.includes('You may not do this');
    },
    statusOf: async (role: string, method: string, pattern: string) => (await ask(role, method, pattern)).status,
  };
}

it('each route admits exactly the roles of its line in the table', async () => {
  const { routes, isLetIn } = await openCrawl();
  const found: Record<string, string> = {};
  for (const route of routes.filter((one) => !one.startsWith('HEAD '))) {
    const [method = '', pattern = ''] = route.split(' ');
    const letIn: string[] = [];
    for (const role of ['stranger', ...ROLES]) if (await isLetIn(role, method, pattern)) letIn.push(role);
    const [least = 'nobody'] = letIn;
    const from = ['stranger', ...ROLES].indexOf(least);
    expect(letIn, route).toEqual(from < 0 ? [] : ['stranger', ...ROLES].slice(from));
    found[route] = least;
  }
  expect(found).toEqual(LEAST_ROLES);
});

it('no route answers another method than its own, for any role', async () => {
  const { routes, statusOf } = await openCrawl();
  const paths = new Set(Object.keys(LEAST_ROLES).map((route) => route.split(' ')[1] ?? ''));
  const others = [...paths].flatMap((path) =>
    ['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      routes.includes(`${method} ${path}`) ? [] : [{ method, path }],
    ),
  );
  const statuses = new Set<number>();
  for (const role of ['stranger', 'admin'])
    for (const { method, path } of others) statuses.add(await statusOf(role, method, path));
  expect([...statuses].toSorted()).toEqual([404, 405]);
});
