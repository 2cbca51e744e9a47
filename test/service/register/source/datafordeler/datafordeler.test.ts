import { describe } from 'vitest';
import { dafFixture } from '../../daf-fixture.ts';
import { sourceContract } from '../../source-contract.ts';

describe('Datafordeler', () => sourceContract(() => dafFixture({ pageSize: 8 })));
