// The package, alone or under `tally stat`: counts are exact or counted, or absent with a reason.
'use strict';
const assert = require('node:assert');
const { Worker } = require('node:worker_threads');
const tally = require('..');

let sum = 0;
function rounds(count) {
  for (let i = 0; i < count; i++) sum += i;
  return sum;
}

function checkCount(count, least) {
  if (count.trust === 'absent') {
    assert.strictEqual(count.value, null);
    assert.notStrictEqual(count.reason, '');
  } else {
    assert(['exact', 'counted'].includes(count.trust), count.trust);
    assert(count.value >= least && count.value < 1000 * least, `${count.value} instructions, at least ${least}`);
  }
}

function testCounts() {
  const counts = tally.count(() => rounds(10000), ['instructions', 'branches']);
  assert.strictEqual(counts.returned, sum);
  assert.deepStrictEqual([...counts.keys()], ['instructions:u', 'branches:u']);
  assert.strictEqual(counts.get('instructions'), counts.get('instructions:u'));
  assert.strictEqual(counts.get('loads'), undefined);
  checkCount(counts.get('instructions'), 10000);
  checkCount(counts.get('branches'), 10000);
  const empty = () => {};
  for (let i = 0; i < 10; i++) checkCount(tally.count(empty, 'instructions').get('instructions'), 100);
}

function testRegions() {
  for (let i = 0; i < 3; i++) assert.strictEqual(tally.region('rounds', () => rounds(1000)), sum);
  assert.throws(() => tally.region('throws', () => { throw new RangeError('thrown'); }), RangeError);
  tally.region('outer', () => tally.region('inner', () => rounds(1000)));
  const descend = (depth) => (depth === 0 ? 0 : 1 + tally.region('descend', () => descend(depth - 1)));
  assert.strictEqual(descend(2000), 2000); // the stack is large enough
  for (const name of ['', 'a\0b', undefined]) assert.throws(() => tally.region(name, () => 1), TypeError);
  assert.throws(() => tally.region(() => 1), TypeError);
  assert.throws(() => tally.region('rejects', () => Promise.reject(new Error('handled'))), TypeError);
}

function testErrors() {
  assert.throws(() => tally.count(() => {}, 'instructionz'),
    (error) => error instanceof tally.TallyError && /instructionz/.test(error.message) && /instructions/.test(error.hint));
  let calls = 0;
  assert.throws(() => tally.region('async', async () => { calls++; }), /neither awaits nor yields/);
  assert.throws(() => tally.count(function* generate() { calls++; }), /^TypeError: generate returns before/);
  assert.strictEqual(calls, 0);
  assert.throws(() => tally.region('promise', () => Promise.resolve(1)), /does not await/);
  assert.throws(() => tally.count(() => Promise.resolve(1)), /does not await/);
  assert.throws(() => tally.region('nothing', undefined), TypeError);
}

function checkRegions(regions) {
  for (const [name, entries] of [['rounds', 3], ['throws', 1], ['outer', 1], ['inner', 1], ['in a worker', 1]]) {
    const region = regions.get(name);
    assert.strictEqual(region.name, name);
    if (region.reason !== '') {
      assert.strictEqual(region.entries, 0);
      assert.strictEqual(region.counts.size, 0);
      continue;
    }
    assert.strictEqual(region.entries, entries, name);
    checkCount(region.counts.get('instructions'), 1000 * entries);
  }
  assert(!regions.has('async'));
}

testCounts();
testRegions();
testErrors();
const text = 'const { region } = require(workerData); region("in a worker", () => { for (let i = 0; i < 1000; i++); });';
const worker = new Worker(`const { workerData } = require('node:worker_threads'); ${text}`,
  { eval: true, workerData: require.resolve('..') });
worker.on('exit', (code) => {
  assert.strictEqual(code, 0);
  if (tally.regions().get('rounds').reason === '') checkRegions(tally.regions());
});
