/**
 * Fits the pattern table: the share of right first candidates for each pattern, from labelled observations. Three steps.
 * A logistic model of all values and pairs of values says what a pattern that was seldom seen is worth; what was seen of a
 * pattern moves its share from there; a monotone regression then has more agreement never lower a share, but of a name that may be a
 * sister's.
 */
import { AXES, type Axis } from '../../../src/match/decide/pattern.ts';

/** Records of one pattern: how many there were, and of how many the first candidate was meant. */
export interface PatternCount {
  /** Its text. */
  readonly pattern: string;
  readonly of: number;
  readonly right: number;
}

const AXIS_NAMES = Object.keys(AXES) as readonly Axis[];
/** Names that may be another company's of the house: with them more agreement may mean that it is a sister. */
const APART: readonly string[] = ['other', 'sister', 'group', 'part'];
const KEYS = 3;
const SIZES = AXIS_NAMES.map((axis) => AXES[axis].length);
const STRIDES = SIZES.map((_, at) => SIZES.slice(at + 1).reduce((product, size) => product * size, 1));
const CELLS = SIZES.reduce((product, size) => product * size, 1);
/** How many records the model's share stands for. */
const PRIOR = 5;
/** How much a pattern that was never seen holds against those that were, in records. */
const UNSEEN = 0.01;

/** The share of each pattern, in the order of the table: by kind, name, address, phone, domain and rival. */
export function fitShares(counts: readonly PatternCount[]): Float64Array {
  const of = new Float64Array(CELLS);
  const right = new Float64Array(CELLS);
  for (const one of counts) {
    const cell = cellOf(one.pattern);
    of[cell] = (of[cell] ?? 0) + one.of;
    right[cell] = (right[cell] ?? 0) + one.right;
  }
  const model = fitModel(of, right);
  const shares = model.map((prior, cell) => ((right[cell] ?? 0) + PRIOR * prior) / ((of[cell] ?? 0) + PRIOR));
  return monotone(
    shares,
    of.map((count) => count + UNSEEN),
  );
}

/** A pattern's text names its values in the order of the axes. */
function cellOf(pattern: string): number {
  const values = pattern.split(' ');
  return AXIS_NAMES.reduce(
    (cell, axis, at) => cell + (AXES[axis] as readonly string[]).indexOf(values[at] ?? '') * (STRIDES[at] ?? 0),
    0,
  );
}

const valueAt = (cell: number, at: number): number => Math.floor(cell / (STRIDES[at] ?? 1)) % (SIZES[at] ?? 1);

/** The numbers of the features of a cell: one for each value, and one for each pair of values. */
function featuresOf(cell: number): readonly number[] {
  const features: number[] = [];
  let offset = 0;
  for (const [at, size] of SIZES.entries()) {
    features.push(offset + valueAt(cell, at));
    offset += size;
  }
  for (const [at, size] of SIZES.entries())
    for (const [other, otherSize] of SIZES.entries()) {
      if (other <= at) continue;
      features.push(offset + valueAt(cell, at) * otherSize + valueAt(cell, other));
      offset += size * otherSize;
    }
  return features;
}

const STEPS = 800;
const RATE = 0.05;
/** Holds back what few records say, in records. */
const RIDGE = 1;

/** A logistic regression by Adam, the same whenever it is given the same. */
function fitModel(of: Float64Array, right: Float64Array): Float64Array {
  const seen = [...of.keys()].filter((cell) => (of[cell] ?? 0) > 0);
  const total = of.reduce((sum, count) => sum + count, 0);
  const features = Array.from({ length: CELLS }, (_, cell) => featuresOf(cell));
  const size = 1 + Math.max(...features.map((each) => Math.max(...each)));
  const [weights, mean, square] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const shareAt = (cell: number): number =>
    1 / (1 + Math.exp(-(features[cell] ?? []).reduce((sum, feature) => sum + (weights[feature] ?? 0), 0)));
  for (let step = 1; step <= STEPS; step += 1) {
    const slope = weights.map((weight) => (RIDGE * weight) / total);
    for (const cell of seen) {
      const off = ((of[cell] ?? 0) * shareAt(cell) - (right[cell] ?? 0)) / total;
      for (const feature of features[cell] ?? []) slope[feature] = (slope[feature] ?? 0) + off;
    }
    for (const [at, value] of slope.entries()) {
      const [first, second] = [0.9 * (mean[at] ?? 0) + 0.1 * value, 0.999 * (square[at] ?? 0) + 0.001 * value ** 2];
      mean[at] = first;
      square[at] = second;
      const size = Math.sqrt(second / (1 - 0.999 ** step)) + 1e-10;
      weights[at] = (weights[at] ?? 0) - (RATE * (first / (1 - 0.9 ** step))) / size;
    }
  }
  return Float64Array.from({ length: CELLS }, (_, cell) => shareAt(cell));
}

const ROUNDS = 60;

/** The nearest shares that do not fall along any ordered axis: the projections of Dykstra, one axis after the other. */
function monotone(shares: Float64Array, weights: Float64Array): Float64Array {
  const values = shares.slice();
  const axes = AXIS_NAMES.keys().drop(1).toArray();
  const lines = axes.map(orderedLines);
  const corrections = axes.map(() => new Float64Array(CELLS));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const index of axes.keys()) {
      const correction = corrections[index] ?? new Float64Array(CELLS);
      const before = values.map((value, cell) => value + (correction[cell] ?? 0));
      values.set(before);
      for (const line of lines[index] ?? []) pool(values, weights, line);
      for (const cell of values.keys()) correction[cell] = (before[cell] ?? 0) - (values[cell] ?? 0);
    }
  // What is left of the rounds is less than a per mille; the largest so far makes it exact.
  for (const line of lines.flat()) line.reduce((most, cell) => (values[cell] = Math.max(most, values[cell] ?? 0)), 0);
  return values;
}

/** Lines of cells that differ in one axis alone, in its order: along them a share never falls. */
export function orderedLines(at: number): readonly (readonly number[])[] {
  const [size, stride, axis] = [SIZES[at] ?? 1, STRIDES[at] ?? 1, AXIS_NAMES[at]];
  const first = Array.from({ length: CELLS }, (_, cell) => cell).filter((cell) => valueAt(cell, at) === 0);
  const lines = first.map((cell) => Array.from({ length: size }, (_, step) => cell + step * stride));
  if (axis === 'rival') return lines;
  if (axis === 'name') return lines.map((line) => line.slice(AXES.name.indexOf('form')));
  return lines.filter(([cell = 0]) => !APART.includes(nameAt(cell)));
}

const nameAt = (cell: number): string => AXES.name[valueAt(cell, AXIS_NAMES.indexOf('name'))] ?? '';

/** Pools neighbours that fall until none does. */
function pool(values: Float64Array, weights: Float64Array, line: readonly number[]): void {
  const blocks: { value: number; weight: number; cells: number }[] = [];
  for (const cell of line) {
    let block = { value: values[cell] ?? 0, weight: weights[cell] ?? 0, cells: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.value > block.value; last = blocks.at(-1)) {
      const weight = last.weight + block.weight;
      const value = (last.value * last.weight + block.value * block.weight) / weight;
      block = { value, weight, cells: last.cells + block.cells };
      blocks.pop();
    }
    blocks.push(block);
  }
  let at = 0;
  for (const { value, cells } of blocks)
    for (let step = 0; step < cells; step += 1, at += 1) values[line[at] ?? 0] = value;
}

/** The rows of the table: by the values of the first three axes, the shares of the others in per mille. */
export function tableRows(shares: Float64Array): readonly (readonly [key: string, row: string])[] {
  const width = STRIDES[KEYS - 1] ?? 1;
  return Array.from({ length: CELLS / width }, (_, row) => {
    const key = AXIS_NAMES.slice(0, KEYS).map((axis, at) => AXES[axis][valueAt(row * width, at)]);
    const cells = Array.from(shares.subarray(row * width, (row + 1) * width), perMille);
    const groups = cells.map((cell, at) => (at % AXES.rival.length === 0 ? ` ${cell}` : cell)).join('');
    return [key.join(' '), groups.trim()];
  });
}

const perMille = (share: number): string =>
  String(Math.min(999, Math.max(1, Math.round(share * 1_000)))).padStart(3, '0');
