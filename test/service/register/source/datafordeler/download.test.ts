/** The transfer of one weekly file, piece by piece. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { download, type FileAccess } from '../../../../../src/service/register/source/datafordeler/files/download.ts';
import { newFolder } from '../../../../support/stores.ts';

test('a transfer from a server without ranges restarts once, even if a piece ends where the last one broke', async () => {
  const whole = Buffer.from('0123456789');
  const access: FileAccess = {
    async get(_path, _query, { onChunk }) {
      for (const piece of [whole.subarray(0, 4), whole.subarray(4)]) await onChunk?.(piece, 200);
      return { status: 200, headers: {}, body: '' };
    },
  };
  const path = join(newFolder(), 'Navn.zip');
  writeFileSync(path, whole.subarray(0, 4));
  const md5 = createHash('md5').update(whole).digest('hex');
  const listed = { entity: 'Navn', format: 'csv', generation: 1, pointInTime: undefined } as const;
  const file = { ...listed, name: 'Navn.zip', md5, bytes: whole.length };
  await download(access, file, path, new AbortController().signal);
  expect(readFileSync(path, 'utf8')).toBe('0123456789');
});
