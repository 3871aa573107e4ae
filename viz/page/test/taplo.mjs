// taplo's language server on recipes of a project: what it completes, shows and marks by the schema that .taplo.toml names.
//   node taplo.mjs PROJECT
import assert from 'node:assert/strict';
import { existsSync, promises as files } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { TaploLsp } = createRequire(import.meta.url)('@taplo/lsp');
const project = process.argv[2];

globalThis.fetch = () => Promise.reject(new Error('tests use no network')); // the server asks for a catalog of schemas

// What the server calls, because it runs as WebAssembly without access to files.
const editor = {
  now: () => new Date(),
  envVar: (name) => ({ RUST_LOG: 'off' })[name],
  envVars: () => [['RUST_LOG', 'off']],
  stdErrAtty: () => false,
  stdin: process.stdin,
  stdout: process.stderr,
  stderr: process.stderr,
  glob: () => [],
  readFile: (path) => files.readFile(path),
  writeFile: () => Promise.reject(new Error('the server must not write files')),
  urlToFilePath: (url) => (url.startsWith('file:') ? fileURLToPath(url) : url),
  isAbsolute,
  cwd: () => project,
  findConfigFile: (from) => [join(from, '.taplo.toml'), join(from, 'taplo.toml')].find(existsSync),
};

const waiting = new Map(); // the functions that take the answers, by the number of the request
const checked = new Map(); // likewise for the errors of a document, by its address
let last = 0;

function onMessage({ id, method, params, result, error }) {
  if (method === 'workspace/configuration') {
    // Without catalogs, which the server would download.
    server.send({ jsonrpc: '2.0', id, result: params.items.map(() => ({ schema: { enabled: true, catalogs: [] } })) });
  } else if (method === 'textDocument/publishDiagnostics') {
    const document = checked.get(params.uri);
    // It sends the errors of the syntax, of the tables and of the schema one after another, up to the first that there are.
    if (params.diagnostics.length > 0 || ++document.passed === 3) document.resolve(params.diagnostics);
  } else if (id !== undefined && method === undefined) {
    waiting.get(id)(result, error);
  }
}

function ask(method, params) {
  return new Promise((resolve, reject) => {
    waiting.set(++last, (result, error) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)));
    server.send({ jsonrpc: '2.0', id: last, method, params });
  });
}

const tell = (method, params) => server.send({ jsonrpc: '2.0', method, params });

let documents = 0;

// Opens a recipe, whose cursor is at '|', and waits until the server has checked it.
async function open(text) {
  const uri = pathToFileURL(join(project, 'recipes', `typed_${++documents}.toml`)).href;
  const diagnostics = await new Promise((resolve) => {
    checked.set(uri, { resolve, passed: 0 });
    tell('textDocument/didOpen', { textDocument: { uri, languageId: 'toml', version: 1, text: text.replace('|', '') } });
  });
  const before = text.split('|')[0].split('\n');
  return { diagnostics, place: { textDocument: { uri }, position: { line: before.length - 1, character: before.at(-1).length } } };
}

// The help of each completion, by its text.
async function completions(text) {
  const { place } = await open(text);
  const found = await ask('textDocument/completion', place);
  return new Map(found.map(({ label, documentation }) => [label, documentation?.value ?? '']));
}

async function hover(text) {
  const { place } = await open(text);
  return (await ask('textDocument/hover', place))?.contents.value ?? '';
}

async function errors(text) {
  const { diagnostics } = await open(text);
  return diagnostics.map(({ range, message }) => `${range.start.line}: ${message}`);
}

const server = await TaploLsp.initialize(editor, { onMessage });
const root = pathToFileURL(project).href;
await ask('initialize', { processId: null, rootUri: root, capabilities: {}, workspaceFolders: [{ uri: root, name: 'project' }] });
tell('initialized', {});


const stages = await completions('[[stage]]\nuse = "|"\n');
assert.match(stages.get('"metis_partition"'), /^Partition the graph of A \+ A\^T with METIS/);
const keys = await completions('[[stage]]\nuse = "metis_partition"\n|\n');
assert.match(keys.get('parts'), /metis_partition: number of parts; .* an integer from 1 to 1048576, or "auto"\. Required\./);
assert.match((await completions('[layout]\nuse = |\n')).get('"csr"'), /rows/);
assert.match((await completions('[layout]\nuse = "sell"\n|\n')).get('slice_height'), /sell: rows stored together .* Default: 32\./);
assert.ok((await completions('|\n')).has('matrix'));

assert.match(await hover('[[stage]]\nuse = "metis_par|tition"\nparts = 4\n'), /^Partition the graph of A \+ A\^T with METIS/);
assert.match(await hover('[layout]\nuse = "sell"\nslice_h|eight = 32\n'), /sell: rows stored together .* Default: 32\./);
assert.match(await hover('[matrix]\npa|th = "a.mtx"\n'), /file, relative to the recipe\. Expected: a text in quotes\./);
assert.equal(await hover('[[stage]]\nuse = "metis_partition"\npar|ts = 4\n'), '', 'taplo now shows the help of keys of [[stage]]: docs/editors.md');

assert.deepEqual(await errors('[layout]\nuse = "sell"\nslice_height = 32\n'), []);
for (const wrong of ['use = "selll"', 'use = "sell"\nslice_heigth = 32', 'use = "csr"\nslice_height = 32', 'use = "sell"\nslice_height = 0']) {
  const found = await errors(`[layout]\n${wrong}\n`);
  assert.ok(found.length === 1 && found[0].startsWith('0: '), `${wrong}: ${found}`);
}
console.log('taplo completes, shows and marks recipes');
process.exit(0);
