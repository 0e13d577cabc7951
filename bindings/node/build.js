// Compiles the addon, tally.node, with the C compiler and the headers that belong to this Node.js.
'use strict';
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const headers = path.resolve(process.execPath, '../../include/node');
if (!existsSync(path.join(headers, 'node_api.h'))) {
  console.error(`tally: ${headers}/node_api.h is missing: install the headers of Node.js (Debian: libnode-dev)`);
  process.exit(1);
}
const options = (process.env.CFLAGS || '-O2').split(' ').filter((option) => option !== '');
try {
  execFileSync(process.env.CC || 'cc',
    ['-std=c11', '-shared', '-fPIC', ...options, `-I${headers}`, 'addon.c', '-ltally', '-o', 'tally.node'],
    { cwd: __dirname, stdio: 'inherit' });
} catch (error) {
  console.error(`tally: cannot compile the addon: ${error.message}`);
  console.error('tally: it needs a C compiler, tally/tally.h and libtally.so: install libtally-dev, or name their ' +
    'directories in CPATH and LIBRARY_PATH');
  process.exit(1);
}
