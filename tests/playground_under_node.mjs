// Results of the page's engine under node, as JSON: its options, and an answer for each question on standard input.
// node playground_under_node.mjs FOLDER ANSWERS < [{"file": ..., "name": ..., "asked": {...}}, ...]

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, answers] = process.argv;
const at = (name) => pathToFileURL(`${folder}/${name}`).href;
const { loadPyodide } = await import(at("pyodide/pyodide.mjs"));
const { openEngine, said } = await import(at("engine.js"));

const read = async (name) => new Uint8Array(readFileSync(`${folder}/${name}`)).buffer;
const open = () => openEngine(loadPyodide, read, { indexURL: `${folder}/pyodide/` });

function answer(engine, { file, name, asked }) {
  const bytes = new Uint8Array(readFileSync(file));
  const linted = engine.lint(bytes, name, asked);
  const { repaired, ...fixed } = engine.fix(bytes, name, asked);
  return { linted, fixed, repaired: Buffer.from(repaired).toString("base64") };
}

let engine = await open();
const answered = [engine.offers()];
for (const question of JSON.parse(readFileSync(0, "utf8"))) {
  let result;
  try {
    result = answer(engine, question);
  } catch (error) {
    result = { failed: said(error) };
    engine = await open(); // as the page does
  }
  answered.push({ ...result, ran: "ran" in globalThis });
}
writeFileSync(answers, JSON.stringify(answered));
