// The thread in which transcripts are judged, so that the page does not freeze and can end it.

import { loadPyodide } from "./pyodide/pyodide.mjs";
import { openEngine, said } from "./engine.js";

const read = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name} is missing`);
  return answer.arrayBuffer();
};

const engine = openEngine(loadPyodide, read, { indexURL: new URL("pyodide/", import.meta.url).href });

engine.then(
  (ready) => postMessage({ kind: "ready", offers: ready.offers() }),
  (error) => postMessage({ kind: "broken", problem: said(error) }),
);

onmessage = async ({ data: { bytes, name, asked } }) => {
  try {
    const ready = await engine;
    const linted = ready.lint(bytes, name, asked);
    postMessage({ kind: "linted", linted });
    if (linted.problem !== undefined) return;
    const fixed = ready.fix(bytes, name, asked);
    postMessage({ kind: "fixed", fixed }, [fixed.repaired.buffer]);
  } catch (error) {
    postMessage({ kind: "failed", problem: said(error) });
  }
};
