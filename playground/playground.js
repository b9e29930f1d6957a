// The page: what is given, what is asked, what is shown. Whatever comes out of a transcript is put in as text only, and
// the worker is made from a blob so that the page's own policy holds for it too: it cannot send anything either.

const MOST_BYTES = 5_000_000;
const MOST_PLAIN = 1_000_000; // a text area with more is no pleasure
const MOST_SHOWN = 500_000;
const NAME = "transcript.jsonl";

const at = (id) => document.getElementById(id);
const text = at("text");
const state = {
  worker: null, ready: false, busy: false, stopped: false, wanted: false,
  name: "", held: null, given: null, repaired: null,
};

// The worker.

function start() {
  state.ready = state.busy = false;
  const script = `import ${JSON.stringify(new URL("worker.js", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address, { type: "module" });
  worker.onmessage = ({ data }) => worker === state.worker && hear[data.kind](data, address);
  worker.onerror = () => worker === state.worker && hear.broken({ problem: "the worker does not start" }, address);
  state.worker = worker;
  refresh();
}

const hear = {
  ready({ offers }, address) {
    URL.revokeObjectURL(address);
    state.ready = true;
    at("version").textContent = offers.version;
    offer(at("format"), offers.format);
    offer(at("provider"), offers.provider);
    if (at("status").className !== "bad") say(state.stopped ? "Stopped. Ready again." : "Ready.");
    refresh();
    if (state.wanted) run();
  },
  linted({ linted }) {
    if (linted.problem !== undefined) {
      rest(linted.problem, true);
      return;
    }
    showFindings(linted);
    say("Working out the repair …");
  },
  fixed({ fixed }) {
    if (fixed.problem === undefined) showRepair(fixed);
    rest(fixed.problem ?? "Done.", fixed.problem !== undefined);
  },
  failed({ problem }) {
    state.worker.terminate(); // what failed unexpectedly may have left anything behind
    start();
    say(`It failed: ${problem}`, true);
  },
  broken({ problem }, address) {
    URL.revokeObjectURL(address);
    say(`Python could not be loaded: ${problem}`, true);
  },
};

/** At once, or as soon as Python is there; what is under way is of something else and ends. */
function runNext() {
  stop();
  clear();
  state.wanted = !state.ready;
  run();
}

function run() {
  if (!state.ready || state.busy) return;
  state.wanted = false;
  clear();
  const bytes = state.held ?? new TextEncoder().encode(text.value);
  if (!bytes.length) return say("There is nothing to lint.", true);
  if (bytes.length > MOST_BYTES) return say(tooLong(bytes.length), true);
  state.given = bytes;
  state.busy = true;
  state.stopped = false;
  const asked = Object.fromEntries(["format", "provider", "level", "content"].map((id) => [id, at(id).value]));
  say("Linting …");
  refresh();
  state.worker.postMessage({ bytes, name: state.name || NAME, asked });
}

function stop() {
  if (!state.busy) return;
  state.worker.terminate();
  state.stopped = true;
  start();
  say("Stopped. Python is being loaded again.");
}

function rest(words, bad) {
  state.busy = false;
  say(words, bad);
  refresh();
}

function refresh() {
  at("run").disabled = !state.ready || state.busy;
  at("stop").disabled = !state.busy;
}

function say(words, bad = false) {
  at("status").textContent = words;
  at("status").className = bad ? "bad" : "";
}

const tooLong = (size) =>
  `That is ${size.toLocaleString("en")} bytes; this page reads ${MOST_BYTES.toLocaleString("en")} at most. \`turnlint lint\` reads any number.`;

// What is given.

async function take(file) {
  if (file.size > MOST_BYTES) return say(tooLong(file.size), true);
  const bytes = new Uint8Array(await file.arrayBuffer());
  state.name = file.name;
  if (!put(bytes)) hold(bytes);
  runNext();
}

/** Into the text area, if it is short and comes out of there as it went in. */
function put(bytes) {
  letGo();
  if (bytes.length > MOST_PLAIN) return false;
  text.value = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const back = new TextEncoder().encode(text.value);
  if (back.length === bytes.length && back.every((byte, index) => byte === bytes[index])) return true;
  text.value = "";
  return false;
}

function hold(bytes) {
  state.held = bytes;
  at("held-name").textContent = `${visible(state.name)}: ${bytes.length.toLocaleString("en")} bytes, taken as they are.`;
  at("held").hidden = false;
  text.disabled = true;
}

function letGo() {
  state.held = null;
  at("held").hidden = true;
  text.disabled = false;
}

// What is shown.

function clear() {
  state.repaired = null;
  at("found").hidden = at("mended").hidden = true;
  for (const id of ["findings", "changes"]) at(id).tBodies[0].replaceChildren();
  for (const id of ["found-sum", "report", "words", "diff", "repaired", "bound"]) at(id).textContent = "";
}

function showFindings({ findings, summary, said, report }) {
  const total = Object.values(summary.findings).reduce((sum, count) => sum + count, 0);
  at("found-sum").textContent = said + more(findings, total);
  fill("findings", findings.map((one) => [
    place(one),
    cell(one.severity, one.severity),
    cell(`${one.code} ${one.rule}`),
    cell(one.provider ? `at ${one.provider}: ${one.message}` : one.message),
    cell(one.fix ? `${one.fix.title} [${one.fix.level}]` : ""),
  ]));
  at("report").textContent = report;
  at("found").hidden = false;
}

function showRepair(fixed) {
  state.repaired = fixed.repaired;
  at("words").textContent = fixed.words;
  at("bound").textContent = fixed.bound && `The command would not write it in place: ${fixed.bound}.`;
  at("bound").hidden = !fixed.bound;
  fill("changes", fixed.changes.map((one) => [
    cell(String(one.line)), cell(one.what), cell(`${one.code} ${one.rule}`), cell(one.message), cell(one.level),
  ]));
  const total = Object.values(fixed.summary.changes).reduce((sum, count) => sum + count, 0);
  at("words").textContent += more(fixed.changes, total);
  at("diff").textContent = fixed.changed ? fixed.diff : "Not a byte changes.";
  at("repaired").textContent = clipped(new TextDecoder().decode(fixed.repaired));
  at("mended").hidden = false;
}

const more = (listed, total) =>
  total > listed.length ? ` The first ${listed.length.toLocaleString("en")} are listed.` : "";

/** Nothing that draws nothing, or turns the text around it: as the reports write it. */
const visible = (words) =>
  words.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

const clipped = (words) =>
  words.length > MOST_SHOWN ? `${words.slice(0, MOST_SHOWN)}\n… the rest is not shown; saving it has all` : words;

function fill(id, rows) {
  at(id).tBodies[0].replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  }));
  at(id).parentElement.hidden = !rows.length;
}

function cell(words, kind = "") {
  const made = document.createElement("td");
  made.textContent = visible(words);
  made.className = kind;
  return made;
}

/** Where a finding stands; a way to it, where the text is at hand. */
function place(finding) {
  const made = cell("", "place");
  const words = finding.line ? `${finding.line}:${finding.column}` : "–";
  if (state.held) {
    made.textContent = words;
    return made;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.title = "Show it in the transcript";
  button.addEventListener("click", () => select(finding.byte_offset, finding.byte_end));
  made.append(button);
  return made;
}

function select(start, end) {
  const units = (until) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(state.given.subarray(0, until)).length;
  text.setSelectionRange(units(start), units(end));
  text.focus(); // which brings the selection into view
}

function offer(list, names) {
  const chosen = list.value;
  list.replaceChildren(...names.map((name) => new Option(name, name, name === chosen, name === chosen)));
}

// What is asked for.

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
at("stop").addEventListener("click", stop);
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", () => {
  const [file] = at("file").files;
  at("file").value = "";
  if (file) take(file);
});
at("let-go").addEventListener("click", () => {
  letGo();
  state.name = "";
  text.focus();
});
at("example").addEventListener("click", async () => {
  const answer = await fetch(new URL("example.jsonl", import.meta.url));
  state.name = "session.jsonl";
  put(new Uint8Array(await answer.arrayBuffer()));
  runNext();
});
text.addEventListener("input", () => {
  if (!text.value) state.name = "";
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  run();
});
document.addEventListener("keydown", (event) => event.key === "Escape" && stop());
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  at("given").className = "over";
});
document.addEventListener("dragleave", () => (at("given").className = ""));
document.addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  at("given").className = "";
  event.preventDefault();
  if (file) take(file);
});
at("save").addEventListener("click", () => {
  const address = URL.createObjectURL(new Blob([state.repaired], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = (state.name || NAME).replace(/(\.[^.]*)?$/, ".fixed$1");
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
});
at("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(new TextDecoder().decode(state.repaired));
    say("Copied.");
  } catch {
    say("The browser did not let it be copied; it can be saved.", true);
  }
});

start();
