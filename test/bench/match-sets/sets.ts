/** The labelled sets, each made by rules of its own. */
import { crmExports } from './crm-exports.ts';
import { ownRegister } from './own-register.ts';
import { salesLists } from './sales-lists.ts';
import type { LabelledSet } from './set.ts';
import { townRegisters } from './town-registers.ts';
import { trapGrid } from './trap-grid.ts';

/** Makes a set of about so many records, the same for the same seed. */
export type SetMaker = (seed: number, records: number) => LabelledSet;

export const SETS: readonly SetMaker[] = [ownRegister, crmExports, salesLists, trapGrid, townRegisters];
