// Python and turnlint, inside of whatever runs this: the worker of the page, or node in a test.
// Owns how they are loaded and asked. Knows nothing of a page.

const WHEELS = ["msgspec.whl", "turnlint.whl"];
const FOLDER = "/lib/playground";

const DEEP = "it is nested deeper than the stack of a browser; `turnlint lint` reads it";

/** What went wrong, in a sentence. Python is not to be asked again after it. */
export function said(error) {
  const words = String(error?.message ?? error);
  return /call stack|too much recursion/i.test(words) ? DEEP : words.trim().split("\n").at(-1);
}

/** `load` is Pyodide's, `read` gives the bytes of a file beside this one. */
export async function openEngine(load, read, options = {}) {
  const files = Promise.all([...WHEELS, "answering.py"].map(read));
  const pyodide = await load(options);
  const [msgspec, turnlint, answering] = await files;
  pyodide.unpackArchive(msgspec, "wheel");
  pyodide.unpackArchive(turnlint, "wheel");
  pyodide.FS.mkdirTree(FOLDER);
  pyodide.FS.writeFile(`${FOLDER}/answering.py`, new Uint8Array(answering));
  pyodide.runPython(`import sys; sys.path.append("${FOLDER}")`);
  return new Engine(pyodide, pyodide.pyimport("answering"));
}

class Engine {
  constructor(pyodide, python) {
    this.pyodide = pyodide;
    this.python = python;
  }

  offers() {
    return JSON.parse(this.python.offers());
  }

  lint(bytes, name, asked) {
    return this.#with(bytes, (data) => JSON.parse(this.python.lint(data, name, JSON.stringify(asked))));
  }

  fix(bytes, name, asked) {
    return this.#with(bytes, (data) => {
      const pair = this.python.fix(data, name, JSON.stringify(asked));
      try {
        const [told, repaired] = pair.toJs();
        return { ...JSON.parse(told), repaired: new Uint8Array(repaired) };
      } finally {
        pair.destroy();
      }
    });
  }

  #with(bytes, use) {
    const data = this.pyodide.toPy(bytes);
    try {
      return use(data);
    } finally {
      data.destroy?.();
    }
  }
}
