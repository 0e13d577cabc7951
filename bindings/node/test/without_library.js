// The package without its addon, as where libtally or the addon is missing: the program runs, and nothing is counted.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'tally-node-'));
fs.copyFileSync(path.join(__dirname, '../index.js'), path.join(directory, 'index.js'));
const tally = require(directory);
fs.rmSync(directory, { recursive: true });

const warnings = [];
process.on('warning', (warning) => warnings.push(warning.message));

assert.throws(tally.regions, tally.TallyError);
assert.throws(() => tally.count(() => {}), (error) => /cannot load libtally/.test(error.message) && /libtally0/.test(error.hint));
assert.strictEqual(tally.region('one', () => 1), 1);
assert.strictEqual(tally.region('two', () => 2), 2);
assert.throws(() => tally.region('promise', () => Promise.resolve(1)), /does not await/);
const { entries, counts, reason } = tally.regions().get('one');
assert.deepStrictEqual([entries, counts.size], [0, 0]);
assert.match(reason, /cannot load libtally/);
process.on('exit', () => {
  assert.strictEqual(warnings.length, 1);
  assert.match(warnings[0], /regions are not counted: cannot load libtally/);
});
