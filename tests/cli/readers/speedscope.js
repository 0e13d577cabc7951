// Reads a profile with speedscope's own importer, and prints what its Sandwich view has: a line for each frame, with what
// it weighs itself and in all.
//   node speedscope.js FOLDER-OF-THE-PACKAGE FILE
// The package has the program for browsers only: its importer is called by the name that it is exported with inside.
'use strict';
const fs = require('fs'), path = require('path');
const [, , folder, file] = process.argv;
const release = path.join(folder, 'dist', 'release');
const script = fs.readdirSync(release).find((name) => /^speedscope.*\.js$/.test(name));
let code = fs.readFileSync(path.join(release, script), 'utf8');
const exported = /([\w$]+)=\{\};[\w$]+\(\1,\{[^}]*importProfilesFromArrayBuffer:/.exec(code);
const load = exported && new RegExp(`\\.then\\(\\(\\)=>\\(([\\w$]+)\\(\\),${exported[1].replace(/\$/g, '\\$')}\\)\\)`).exec(code);
if (!load) {
  console.error('the importer was not found in this version of speedscope');
  process.exit(77);
}
code = code.replace('(()=>{', `(()=>{globalThis.importer=()=>(${load[1]}(),${exported[1]});`);

// The browser objects that it reads when it is loaded; it fails when it draws, because there is no canvas.
const nothing = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : nothing),
  apply: () => nothing,
  construct: () => nothing,
});
globalThis.window = globalThis;
for (const name of ['document', 'localStorage', 'requestAnimationFrame', 'addEventListener']) globalThis[name] = nothing;
const log = console.log;
console.log = () => {};
try {
  (0, eval)(code);
} catch (error) {}

(async () => {
  const bytes = fs.readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const group = await globalThis.importer().importProfilesFromArrayBuffer(path.basename(file), buffer);
  if (!group) throw new Error('speedscope does not know this form');
  for (const profile of group.profiles)
    profile.forEachFrame((frame) => log(`${frame.getSelfWeight()}\t${frame.getTotalWeight()}\t${frame.name}`));
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
