// Counts hardware events of regions of a Node.js program, and grades each count. index.d.ts describes the functions.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { types } = require('node:util');

class TallyError extends Error {
  constructor(message, hint) {
    super(hint === '' ? message : `${message}\n${hint}`);
    this.name = 'TallyError';
    this.hint = hint;
  }
}

class Counts extends Map {
  constructor(counts) {
    super(counts.map((count) => [count.event, count]));
  }

  get(event) {
    return super.get(event) ?? [...this.values()].find((count) => count.event.split(':')[0] === event);
  }
}

// Returns the addon, or the TallyError if it cannot be loaded.
function load() {
  try {
    return require('./tally.node');
  } catch (error) {
    return new TallyError(`cannot load libtally: ${error.message.split('\n')[0]}`,
      'install libtally0, or name the directory of libtally.so.0 in LD_LIBRARY_PATH; if the addon is missing, compile ' +
      'it with `npm rebuild tally-counters`');
  }
}

const addon = load();
const isLoaded = !(addon instanceof TallyError);
const notCounted = new Map(); // region name: the TallyError of its first entry

const lastError = () => new TallyError(...addon.lastError());

// An asynchronous function or a generator returns before its code runs: its call alone would be counted.
function checkFunction(call) {
  if (typeof call !== 'function') throw new TypeError(`${call} is not a function: it is the code to count`);
  if (types.isAsyncFunction(call) || types.isGeneratorFunction(call)) {
    throw new TypeError(`${call.name || 'the function'} returns before its code runs, so it cannot be counted: ` +
      'count code within it that neither awaits nor yields');
  }
}

function checkReturned(returned) {
  if (types.isPromise(returned)) {
    returned.catch(() => {}); // the error is the TypeError: Node.js ends programs with rejections that nobody handles
    throw new TypeError('the function returned a promise, and what it awaits was not counted: ' +
      'count code that does not await');
  }
  return returned;
}

function checkName(name) {
  if (typeof name !== 'string' || name === '' || name.includes('\0')) {
    throw new TypeError('the name of a region is a string that is not empty and has no zero');
  }
}

// Begins and ends the region in JavaScript: called from the addon, each level of a recursion would take the stack of
// some thirty.
function callInRegion(name, call) {
  if (!addon.begin(name)) {
    notCounted.set(name, notCounted.get(name) ?? lastError());
    return call();
  }
  try {
    return call();
  } finally {
    addon.end(name);
  }
}

function region(name, call) {
  checkName(name);
  checkFunction(call);
  if (isLoaded) return checkReturned(callInRegion(name, call));
  if (notCounted.size === 0) process.emitWarning(`regions are not counted: ${addon.message}`);
  notCounted.set(name, addon);
  return checkReturned(call());
}

function requireAddon() {
  if (!isLoaded) throw addon;
}

// Counters by the list of their events.
const opened = new Map();

function countersOf(events) {
  const list = events.join(',');
  if (!opened.has(list)) {
    const counters = addon.open(list);
    if (counters === null) throw lastError();
    opened.set(list, counters);
  }
  return opened.get(list);
}

const withoutNumber = (count) => (count.trust === 'absent' ? { ...count, value: null } : count);

function count(call, events = []) {
  checkFunction(call);
  requireAddon();
  const [returned, ...counts] = addon.count(countersOf([].concat(events)), call);
  return Object.assign(new Counts(counts.map(withoutNumber)), { returned: checkReturned(returned) });
}

function readRegions() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'tally-regions-'));
  try {
    const file = path.join(directory, 'regions.json');
    if (!addon.dump(file)) throw lastError();
    return JSON.parse(fs.readFileSync(file, 'utf8')).regions;
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

function countOf({ event, value, trust, reason }) {
  return { event, value, trust, unit: event.endsWith('-clock') ? 'ns' : 'events', reason: reason ?? '' };
}

function regions() {
  if (!isLoaded && notCounted.size === 0) throw addon;
  const found = new Map();
  for (const [name, why] of notCounted) {
    found.set(name, { name, entries: 0, counts: new Counts([]), reason: why.message });
  }
  for (const { region: name, entries, events } of isLoaded ? readRegions() : []) {
    found.set(name, { name, entries, counts: new Counts(events.map(countOf)), reason: '' });
  }
  return found;
}

module.exports = { TallyError, count, region, regions };
