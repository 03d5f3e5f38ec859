/** Which test files cover which mutants, as the first run of all tests has shown; one note for each test file. */
const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const folder = join(process.env.ORDER_SAGA_MUTATION_FOLDER, 'coverage');

module.exports = {
  /** @param note `{ file, ms, covered, always }`; `always` are mutants in what runs while the file is loaded */
  writeCoverage(note) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${note.file.replaceAll('/', '_')}.json`), JSON.stringify(note));
  },

  readCoverage() {
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  },
};
