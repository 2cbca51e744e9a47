/** Invented CVR numbers that pass the register's check, as all that it gave to companies do. */
import { passesModulus11 } from '../../src/protocol/cvr-number.ts';

const FIRST = 20_000_000;
const found: string[] = [];
let next = FIRST;

/** The number at a place in their order, from 20000007 on; `CVR-1-` before it makes the company's entity id. */
export function cvrNumber(at: number): string {
  while (found.length <= at) {
    const number = String(next++);
    if (passesModulus11(number)) found.push(number);
  }
  return found[at] ?? '';
}
