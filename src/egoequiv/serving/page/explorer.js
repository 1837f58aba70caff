// The explorer: choose a view, move the camera in feature space, and compare with what was really there.
"use strict";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const PAUSE_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 500; // between the steps of a planned walk
const NEIGHBOURS = 7;

const state = {
  info: null, // the description of model and store
  token: sessionStorage.getItem("egoequiv-token"),
  start: null, // { frame } or { image, url, name }
  about: null, // what is known of the start frame
  steps: [], // one for each motion: { motion, frames, truth }
  goal: null, // as start
  map: null, // of the recording that is shown
  pair: null,
  walking: false, // the planner walks
  turn: 0, // each change of the view has a number: answers to earlier ones are dropped
};

// --- Talking to the service ---------------------------------------------------------------------------------------

async function ask(path, body) {
  const headers = {};
  if (state.token) headers.authorization = `Bearer ${state.token}`;
  if (body) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  } catch {
    throw new Error("The service does not answer. Is it still running?");
  }
  if (answer.status === 401) {
    $("token-form").hidden = false;
    $("main").hidden = true;
    $("token").focus();
  }
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(said.detail || `The service answered ${answer.status}.`), { status: answer.status });
  }
  return answer.headers.get("content-type").startsWith("application/json") ? answer.json() : answer.blob();
}

const pictures = new Map(); // with a token, pictures are fetched, because an address cannot carry it
async function pictureAt(path) {
  if (!state.token) return path;
  if (!pictures.has(path)) pictures.set(path, ask(path).then((blob) => URL.createObjectURL(blob)));
  return pictures.get(path);
}
const frameURL = (row) => pictureAt(`/v1/frames/${row}/image`);

function complain(problem) {
  if (!problem) { $("problem").hidden = true; return; }
  $("problem-text").textContent = problem.message || String(problem);
  $("problem").hidden = false;
}
const say = (text) => { $("said").textContent = text; };
const safely = (act) => async (...given) => {
  try { complain(null); await act(...given); } catch (problem) { complain(problem); }
};

// --- Small pieces of the page -------------------------------------------------------------------------------------

function make(tag, settings = {}, ...children) {
  const made = Object.assign(document.createElement(tag), settings);
  made.append(...children);
  return made;
}
function draw(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
async function show(image, row, alt) {
  image.alt = alt || `Frame ${row}`;
  image.src = await frameURL(row);
}
function thumb(row, words, kind, act) {
  const image = make("img", { loading: "lazy", alt: "" });
  frameURL(row).then((url) => { image.src = url; }, complain);
  const button = make("button", { type: "button", className: `thumb ${kind || ""}`, title: words }, image);
  button.setAttribute("aria-label", words);
  button.addEventListener("click", act || safely(() => goTo({ frame: row })));
  return button;
}
const number = (value, digits = 2) => Number(value).toFixed(digits);
const count = (value) => Number(value).toLocaleString("en");

function poseWords(frame) {
  const units = { deg: "°", m: " m", rad: " rad" };
  const parts = Object.entries(frame.pose).slice(0, 3).map(([name, value]) => {
    const unit = name.split("_").pop();
    const title = unit in units ? name.slice(0, -unit.length - 1) : name;
    return `${title.replaceAll("_", " ")} ${Number(value.toFixed(1))}${units[unit] || ""}`;
  });
  return state.info.store.space === "grid" ? parts.join(", ") : frame.time_s === null ? "" : `at ${frame.time_s.toFixed(1)} s`;
}
const frameWords = (frame) => [frame.recording_name, `frame ${frame.frame}`, poseWords(frame)].filter(Boolean).join(", ");
function captionOf(place, frame, extra) {
  place.replaceChildren(make("b", { textContent: frame.recording_name }), make("br"), [poseWords(frame) || `frame ${frame.frame}`, extra].filter(Boolean).join(" · "));
}

function motionWords(name, vector) {
  if (name) return name;
  const axes = state.info.model.axes;
  const parts = vector.map((value, k) => [value, axes[k]]).filter(([value]) => Math.abs(value) > 1e-6);
  const words = parts.map(([value, axis]) => `${value > 0 ? axis.plus : axis.minus} ${Number(Math.abs(value).toFixed(2))}${axis.unit === "deg" ? "°" : ` ${axis.unit}`}`);
  return words.slice(0, 3).join(", ") || "no motion";
}

const DIRECTIONS = [
  ["west", /\bleft\b/, "←"], ["east", /\bright\b/, "→"], ["north", /\b(up|forward|ahead|in)\b/, "↑"], ["south", /\b(down|back|backward|out)\b/, "↓"],
];
const directionOf = (name) => (name.includes("+") ? null : DIRECTIONS.find(([, words]) => words.test(name)) || null);
const glyphOf = (name) => (directionOf(name) || [0, 0, "•"])[2];

// --- The view and the walk from it --------------------------------------------------------------------------------

const chain = () => state.steps.map((step) => step.motion);
const viewOf = (place) => (place.image ? { image: place.image } : { frame: place.frame });
const last = () => state.steps[state.steps.length - 1];

async function goTo(start, motions = []) {
  const turn = ++state.turn;
  const about = start.image ? null : await ask(`/v1/frames/${start.frame}`);
  if (turn !== state.turn) return;
  Object.assign(state, { start, about, steps: [] });
  $("unusual").hidden = true;
  if (start.image) {
    state.pair = null;
    $("pair-caption").textContent = "Pairs are of stored frames: your picture has none.";
    $("pairs").replaceChildren();
  }
  remember();
  showStart();
  const whole = (async () => {
    await showNeighbours();
    for (const motion of motions) await walk(motion);
  })();
  await Promise.all([whole, showMap(), showAdvice()]);
}

async function showNeighbours() {
  const turn = state.turn;
  const found = await ask("/v1/nearest", { view: viewOf(state.start), count: NEIGHBOURS, exclude: "frame" });
  if (turn !== state.turn || state.steps.length) return;
  showFound(found.frames, null);
  $("unusual").hidden = !found.unusual;
  if (found.unusual) say($("unusual").textContent);
}

async function walk(motion) {
  const turn = ++state.turn;
  const found = await ask("/v1/nearest", { view: viewOf(state.start), motions: [...chain(), motion], count: NEIGHBOURS });
  if (turn !== state.turn) return;
  state.steps.push({ motion, frames: found.frames, truth: found.truth });
  showWalk();
  remember();
  const best = found.frames[0];
  const real = found.truth ? `Really there: frame ${found.truth.frame.row}, number ${found.truth.rank} of ${count(found.truth.searched)} by distance.` : "The store has no frame there.";
  say(`After ${chain().join(", ")}: nearest to the prediction is ${frameWords(best)}. ${real}`);
  const before = state.steps.length > 1 ? state.steps[state.steps.length - 2].truth?.frame.row : state.start.frame;
  if (found.truth && before !== undefined) showPairs(before, found.truth.frame.row).catch(complain);
}

function showStart() {
  const { start, about } = state;
  if (start.image) {
    $("now-image").src = start.url;
    $("now-image").alt = `Your picture ${start.name}`;
    $("now-caption").replaceChildren(make("b", { textContent: start.name }), make("br"), "your picture");
  } else {
    show($("now-image"), start.frame, frameWords(about)).catch(complain);
    captionOf($("now-caption"), about, about.label && about.label !== about.recording_name ? about.label : "");
  }
  showWalk();
}

function showFound(frames, truth) {
  const moved = state.steps.length > 0;
  $("predicted").classList.toggle("idle", !moved);
  $("predicted-title").textContent = moved ? "Nearest stored frame" : "Looks most like";
  $("predicted").querySelector(".tag").textContent = moved ? "predicted" : "nearest";
  const [best, ...others] = frames;
  if (best) {
    show($("predicted-image"), best.row, frameWords(best)).catch(complain);
    captionOf($("predicted-caption"), best, `distance ${number(best.distance)}`);
  }
  $("others").replaceChildren(...others.map((frame) => {
    const kind = truth && truth.frame.row === frame.row ? "truth" : "";
    return make("li", {}, thumb(frame.row, `${frameWords(frame)}, distance ${number(frame.distance)}`, kind), make("span", { className: "thumb-text", textContent: number(frame.distance) }));
  }));
  $("truth").classList.toggle("idle", !truth);
  if (truth) {
    show($("truth-image"), truth.frame.row, frameWords(truth.frame)).catch(complain);
    captionOf($("truth-caption"), truth.frame, truth.rank ? (truth.rank === 1 ? "the prediction is right" : `rank ${count(truth.rank)} of ${count(truth.searched)}`) : "");
    $("truth-absent").textContent = "";
  } else {
    $("truth-image").removeAttribute("src");
    $("truth-caption").textContent = "";
    $("truth-absent").textContent = !moved ? "Press a motion" : state.start.image ? "Not known for your own picture" : "The store has no frame there";
  }
}

function showWalk() {
  const step = last();
  if (step) showFound(step.frames, step.truth);
  $("walk").replaceChildren(...state.steps.map((one, place) => {
    const column = make("div", { className: "step" }, make("span", { className: "glyph", textContent: `${glyphOf(one.motion)} ${one.motion}` }));
    if (one.frames[0]) column.append(thumb(one.frames[0].row, `Step ${place + 1}, predicted: ${frameWords(one.frames[0])}`, "predicted"));
    if (one.truth) column.append(thumb(one.truth.frame.row, `Step ${place + 1}, really there: ${frameWords(one.truth.frame)}`, "truth"), make("span", { className: "thumb-text", textContent: one.truth.rank ? `rank ${count(one.truth.rank)}` : "" }));
    return make("li", {}, column);
  }));
  $("walk-hint").hidden = state.steps.length > 0;
  $("look").disabled = !step?.truth;
  $("back").disabled = $("again").disabled = !step;
  $("walk").scrollLeft = $("walk").scrollWidth;
  markMap();
}

function stepBack() {
  if (!state.steps.length) return;
  state.turn += 1;
  state.steps.pop();
  showWalk();
  remember();
  if (!state.steps.length) return showNeighbours();
}
const look = () => (last()?.truth ? goTo({ frame: last().truth.frame.row }) : undefined);

function showPad() {
  const { motions } = state.info.model;
  const taken = new Set();
  const buttons = motions.map(({ name }, place) => {
    const direction = directionOf(name);
    const where = direction && !taken.has(direction[0]) ? direction[0] : "more";
    taken.add(where);
    const button = make("button", { type: "button", className: where, title: `${name} (key ${place + 1})` },
      make("span", { className: "glyph", textContent: glyphOf(name), ariaHidden: "true" }), make("span", { textContent: name }));
    button.dataset.motion = name;
    button.dataset.where = where;
    button.addEventListener("click", safely(() => walk(name)));
    return button;
  });
  $("pad").classList.toggle("listed", taken.size <= 1 || (taken.size === 2 && taken.has("more")));
  $("pad").replaceChildren(...buttons);
  if (!motions.length) $("pad").append(make("p", { className: "hint", textContent: "This model has no maps of motions: train it with a method that learns them, such as recording+motion." }));
}

// --- Map ----------------------------------------------------------------------------------------------------------

async function showMap(recording = state.about?.recording ?? state.map?.recording ?? 0) {
  if (state.map?.recording !== recording) {
    const map = await ask(`/v1/recordings/${recording}/map`);
    map.picture = await pictureAt(`/v1/recordings/${recording}/sheet`);
    state.map = map;
    $("recording").value = String(recording);
    $("map").replaceChildren(...(map.kind === "grid" ? gridMap(map) : wayMap(map)));
    $("frame-slider").max = String(map.points.length - 1);
  }
  markMap();
}

function gridMap(map) {
  const xs = [...new Set(map.points.map((point) => point.x))].sort((a, b) => a - b);
  const ys = [...new Set(map.points.map((point) => point.y))].sort((a, b) => b - a);
  const grid = make("div", { className: "grid-map" });
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", `Frames by ${map.axes.join(" and ")}`);
  grid.style.gridTemplateColumns = `repeat(${xs.length}, minmax(0, 1fr))`;
  const { columns, width, height } = map.sheet;
  const rows = Math.ceil(map.points.length / columns);
  map.points.forEach((point, place) => {
    const cell = make("button", { type: "button", className: "cell", tabIndex: -1 });
    cell.dataset.row = point.row;
    cell.setAttribute("aria-label", `${map.axes[0]} ${point.x}, ${map.axes[1]} ${point.y}, frame ${point.row}`);
    cell.style.gridColumn = xs.indexOf(point.x) + 1;
    cell.style.gridRow = ys.indexOf(point.y) + 1;
    cell.style.backgroundImage = `url("${map.picture}")`;
    cell.style.backgroundSize = `${columns * 100}% ${rows * 100}%`;
    const across = columns > 1 ? ((place % columns) / (columns - 1)) * 100 : 0;
    const down = rows > 1 ? (Math.floor(place / columns) / (rows - 1)) * 100 : 0;
    cell.style.backgroundPosition = `${across}% ${down}%`;
    cell.style.aspectRatio = `${width} / ${height}`;
    cell.addEventListener("click", safely(() => goTo({ frame: point.row })));
    cell.addEventListener("keydown", (event) => moveFocus(event, grid, cell));
    grid.append(cell);
  });
  return [grid, make("p", { className: "axis-name", textContent: `${map.axes[0]} →, ${map.axes[1]} ↑` })];
}

function moveFocus(event, grid, cell) {
  const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!by) return;
  event.preventDefault();
  const at = [Number(cell.style.gridColumn.split(" ")[0]) + by[0], Number(cell.style.gridRow.split(" ")[0]) + by[1]];
  const next = [...grid.children].find((one) => Number(one.style.gridColumn.split(" ")[0]) === at[0] && Number(one.style.gridRow.split(" ")[0]) === at[1]);
  if (next) { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); }
}

function wayMap(map) {
  const xs = map.points.map((point) => point.x);
  const ys = map.points.map((point) => point.y);
  const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
  const scale = 320 / span;
  const tall = Math.max((Math.max(...ys) - Math.min(...ys)) * scale, 40);
  map.place = (point) => [20 + (point.x - Math.min(...xs)) * scale, 20 + tall - (point.y - Math.min(...ys)) * scale];
  const svg = draw("svg", { viewBox: `0 0 360 ${tall + 40}`, role: "img", "aria-label": `The way of the camera; use the slider to choose a frame` });
  const places = map.points.map(map.place);
  svg.append(draw("polyline", { class: "way", points: places.map((place) => place.map((v) => v.toFixed(1)).join(",")).join(" ") }));
  svg.append(draw("g", { id: "marks" }));
  svg.addEventListener("click", safely(async (event) => {
    const box = svg.getBoundingClientRect();
    const at = [((event.clientX - box.left) / box.width) * 360, ((event.clientY - box.top) / box.height) * (tall + 40)];
    const away = places.map((place) => (place[0] - at[0]) ** 2 + (place[1] - at[1]) ** 2);
    await goTo({ frame: map.points[away.indexOf(Math.min(...away))].row });
  }));
  return [svg, make("p", { className: "axis-name", textContent: map.kind === "way" ? `seen from above; ${map.axes.join(", ")}` : map.axes[0] })];
}

function marks() {
  const step = last();
  return { start: state.start?.frame, predicted: step?.frames[0]?.row, truth: step?.truth?.frame.row, goal: state.goal?.frame };
}
function markMap() {
  const { map } = state;
  if (!map) return;
  const wanted = marks();
  const place = map.points.findIndex((point) => point.row === wanted.start);
  const nearest = place >= 0 || wanted.start === undefined ? place : map.points.filter((point) => point.row <= wanted.start).length - 1;
  if (nearest >= 0) {
    $("frame-slider").value = String(nearest);
    $("frame-number").textContent = `${nearest + 1} of ${map.points.length}`;
  } else if (wanted.start === undefined) {
    $("frame-number").textContent = "(your picture is not on the map)";
  }
  if (map.kind === "grid") {
    for (const cell of $("map").querySelectorAll(".cell")) {
      for (const [kind, row] of Object.entries(wanted)) cell.classList.toggle(kind, Number(cell.dataset.row) === row);
      cell.tabIndex = Number(cell.dataset.row) === wanted.start ? 0 : -1;
    }
    if (!$("map").querySelector('.cell[tabindex="0"]')) $("map").querySelector(".cell").tabIndex = 0;
    return;
  }
  const drawn = [];
  for (const [kind, row] of Object.entries(wanted)) {
    if (row === undefined) continue;
    const point = map.points.find((one) => one.row === row) || nearestPoint(map, row);
    if (!point) continue;
    const [x, y] = map.place(point);
    drawn.push(draw("circle", { class: `mark ${kind}`, cx: x, cy: y, r: kind === "start" ? 8 : 6 }, draw("title", {}, kind)));
  }
  $("marks").replaceChildren(...drawn);
}
function nearestPoint(map, row) { // a long recording has more frames than the map has points
  const [first, end] = [map.points[0].row, map.points[map.points.length - 1].row];
  if (row < first || row > end) return null;
  return map.points.reduce((best, one) => (Math.abs(one.row - row) < Math.abs(best.row - row) ? one : best));
}

async function listRecordings() {
  const found = await ask("/v1/recordings?count=500");
  $("recording").replaceChildren(...found.recordings.map((one) => make("option", { value: String(one.number), textContent: `${one.name} (${count(one.frames)} frames)` })));
  if (found.total > found.recordings.length) $("recording").append(make("option", { disabled: true, textContent: `and ${count(found.total - found.recordings.length)} more: open them by #frame=NUMBER` }));
}

// --- Goal and plan ------------------------------------------------------------------------------------------------

async function setGoal(goal) {
  state.goal = goal;
  $("goal-frame").classList.toggle("empty", !goal);
  if (!goal) {
    $("goal-image").removeAttribute("src");
  } else if (goal.image) {
    $("goal-image").src = goal.url;
    $("goal-image").alt = `The goal, your picture ${goal.name}`;
  } else {
    await ask(`/v1/frames/${goal.frame}`); // refuses a frame that is not there
    await show($("goal-image"), goal.frame, `The goal, frame ${goal.frame}`);
  }
  $("goal-absent").hidden = Boolean(goal);
  $("go").disabled = !goal || !state.info.model.motions.length;
  $("plan-status").textContent = "";
  $("plan").replaceChildren();
  markMap();
  remember();
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
function tell(text) { $("plan-status").textContent = text; }

async function walkToGoal() {
  if (state.walking) { state.walking = false; return; }
  state.walking = true;
  $("go").textContent = "Stop";
  $("plan").replaceChildren();
  try {
    if (state.steps.length && last().truth) await look();
    if (state.start.image) await planOnly();
    else await closedLoop();
  } finally {
    state.walking = false;
    $("go").textContent = "Walk to the goal";
  }
}

async function planOnly() {
  const plan = await ask("/v1/plan", { view: viewOf(state.start), goal: viewOf(state.goal) });
  if (plan.status !== "go") return tell(plan.status === "there" ? "You are there already." : "Lost: no plan leads closer to the goal.");
  tell(`The plan: ${plan.motions.join(", ")}. Your picture is not a stored frame, so nothing can be looked at on the way: each step below is predicted.`);
  await goTo(state.start, plan.motions);
}

async function closedLoop() {
  const walked = await ask("/v1/walk", { frame: state.start.frame, goal: viewOf(state.goal) });
  for (const [place, motion] of walked.motions.entries()) {
    if (!state.walking) return tell(`Stopped after ${moves(place)}.`);
    const row = walked.frames[place + 1];
    tell(`Move ${place + 1} of ${walked.motions.length}: ${motion}, distance to the goal ${number(walked.distances[place + 1])}.`);
    $("plan").append(make("li", {}, make("div", { className: "step" }, make("span", { className: "glyph", textContent: `${glyphOf(motion)} ${motion}` }), thumb(row, `Move ${place + 1}: ${motion}, frame ${row}`, "truth"))));
    $("plan").scrollLeft = $("plan").scrollWidth;
    await goTo({ frame: row });
    await pause(PAUSE_MS);
  }
  const [made, end] = [moves(walked.motions.length), walked.distances[walked.distances.length - 1]];
  const edges = walked.blocked.length ? ` ${walked.blocked.length} more ${walked.blocked.length === 1 ? "was" : "were"} tried where the store has no frame.` : "";
  if (walked.status === "lost") return tell(`Lost after ${made}: no plan leads notably nearer to the goal (distance ${number(end)}).${edges}`);
  if (walked.status === "go") return tell(`Not there after ${made} (distance ${number(end)}).${edges}`);
  return tell(`The planner says it is there, after ${made} (distance ${number(end)})${state.start.frame === state.goal.frame ? ": it is the very frame" : ""}.${edges}`);
}
const moves = (made) => `${made} move${made === 1 ? "" : "s"}`;

// --- Next view ----------------------------------------------------------------------------------------------------

async function showAdvice() {
  const { start } = state;
  for (const button of $("pad").children) button.classList.remove("best");
  let found;
  try {
    found = await ask("/v1/next-view", { view: viewOf(state.start) });
  } catch (problem) {
    if (problem.status !== 409) throw problem;
    $("advice-guess").textContent = problem.message;
    $("advice").replaceChildren();
    return;
  }
  if (start !== state.start) return;
  const votes = Object.values(found.votes).reduce((sum, one) => sum + one, 0);
  $("advice-guess").replaceChildren("This looks like ", make("b", { textContent: found.guess }), ` (${found.votes[found.guess]} of ${votes} votes, uncertainty ${number(found.uncertainty_bits)} bits). Expected uncertainty after each move:`);
  const bits = found.suggestions.map((one) => number(one.uncertainty_bits));
  const isBest = (one) => number(one.uncertainty_bits) === bits[0] && new Set(bits).size > 1; // none where all are equal
  const most = Math.max(found.uncertainty_bits, ...found.suggestions.map((one) => one.uncertainty_bits), 0.01);
  $("advice").replaceChildren(...found.suggestions.map((one) => {
    const filled = make("span");
    filled.style.width = `${(100 * one.uncertainty_bits) / most}%`;
    const bar = make("span", { className: "bar" }, filled);
    const button = make("button", { type: "button" }, make("span", { textContent: `${glyphOf(one.motion)} ${one.motion}${isBest(one) ? " (best)" : ""}` }), bar, make("span", { className: "bits", textContent: `${number(one.uncertainty_bits)} bits` }));
    button.setAttribute("aria-label", `${one.motion}: ${number(one.uncertainty_bits)} bits expected, ${one.guess}`);
    button.addEventListener("click", safely(() => (one.leads_to === null ? walk(one.motion) : goTo({ frame: one.leads_to }))));
    return make("li", {}, button);
  }));
  const best = new Set(found.suggestions.filter(isBest).map((one) => one.motion));
  for (const button of $("pad").children) button.classList.toggle("best", best.has(button.dataset.motion));
}

// --- Pairs --------------------------------------------------------------------------------------------------------

async function showScatter() {
  const { axes, points } = await ask("/v1/motions");
  const [wide, tall, edge] = [320, 240, 34];
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const flipped = /left/.test(state.info.model.axes.at(-1)?.plus || "") ? -1 : 1; // left is on the left
  const reach = Math.max(...xs.map(Math.abs), 1e-6); // the same to both sides, so that straight on is in the middle
  const [low, high] = [Math.min(...ys, 0), Math.max(...ys, 0)];
  const x = (value) => edge + (((flipped * value) / reach + 1) / 2) * (wide - 2 * edge);
  const y = (value) => tall - edge - (high > low ? (value - low) / (high - low) : 0.5) * (tall - 2 * edge);
  const svg = $("scatter");
  svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  svg.replaceChildren(draw("line", { x1: edge, x2: wide - edge, y1: y(0), y2: y(0) }), draw("line", { x1: x(0), x2: x(0), y1: edge, y2: tall - edge }));
  const most = Math.max(...points.map((point) => point.count));
  for (const point of points) {
    const words = `${point.motion || "no named motion"}: ${axes[0]} ${number(point.x, 1)}, ${axes[1]} ${number(point.y, 1)}`;
    const circle = draw("circle", { class: `point ${point.motion ? "named" : ""}`, cx: x(point.x).toFixed(1), cy: y(point.y).toFixed(1), r: most > 1 ? 3 + 5 * Math.sqrt(point.count / most) : 3 }, draw("title", {}, words));
    circle.addEventListener("click", safely(async () => {
      svg.querySelector(".chosen")?.classList.remove("chosen");
      circle.classList.add("chosen");
      await showPairs(point.i, point.j);
    }));
    svg.append(circle);
  }
  for (const { name, vector } of state.info.model.motions) {
    svg.append(draw("text", { x: Math.min(Math.max(x(vector.at(-1)), 40), wide - 40), y: Math.max(y(vector.length > 1 ? vector[0] : 0) - 10, 10), "text-anchor": "middle" }, name));
  }
  svg.append(draw("text", { x: wide - 4, y: tall - 6, "text-anchor": "end" }, axes[0]), draw("text", { x: 4, y: 12 }, axes[1] || ""));
}

function pairItem(pair, kind, words) {
  const step = (row, text) => thumb(row, `${text}, frame ${row}`);
  return make("li", { className: `pair ${kind}` }, step(pair.i, "before"), make("span", { textContent: "→" }), step(pair.j, "after"), make("p", { textContent: words }));
}

async function showPairs(i, j) {
  const turn = (state.pair = {});
  const found = await ask("/v1/pairs", { i, j, count: 8 });
  if (turn !== state.pair) return;
  const own = motionWords(found.query.motion, found.query.vector);
  const right = found.pairs.filter((pair) => pair.motion && pair.motion === found.query.motion).length;
  $("pair-caption").replaceChildren("Pairs of other recordings whose features changed most nearly like those of this pair (", make("b", { textContent: own }), found.query.motion ? `): ${right} of ${found.pairs.length} have the same motion.` : ").");
  $("pairs").replaceChildren(
    pairItem(found.query, "query", `${own}, the query`),
    ...found.pairs.map((pair) => pairItem(pair, pair.motion && pair.motion === found.query.motion ? "same" : "", `${pair.motion && pair.motion === found.query.motion ? "✓ " : ""}${motionWords(pair.motion, pair.vector)}`)),
  );
}

// --- Pictures of the user -----------------------------------------------------------------------------------------

async function readPicture(file) {
  if (!file.type.startsWith("image/")) throw new Error(`${file.name} is not a picture.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let start = 0; start < bytes.length; start += 32768) text += String.fromCharCode(...bytes.subarray(start, start + 32768));
  return { image: btoa(text), url: URL.createObjectURL(file), name: file.name || "a picture" };
}
async function openPicture(file, asGoal) {
  const place = await readPicture(file);
  await ask("/v1/embed", { views: [viewOf(place)] }); // refuses what cannot be read, before the view changes
  if (asGoal) await setGoal(place);
  else await goTo(place);
}
function acceptDrops() {
  addEventListener("dragover", (event) => { event.preventDefault(); $("drop").hidden = false; document.body.classList.add("dragging"); });
  const end = () => { $("drop").hidden = true; document.body.classList.remove("dragging"); };
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) end(); });
  addEventListener("drop", safely(async (event) => {
    event.preventDefault();
    end();
    const [file] = event.dataTransfer.files;
    if (!file) throw new Error("That was not a file: drop a picture from your computer.");
    await openPicture(file, $("goal-card").contains(event.target));
  }));
  addEventListener("paste", safely(async (event) => {
    const [file] = event.clipboardData?.files || [];
    if (file) await openPicture(file, false);
  }));
}

// --- Addresses: #frame=123&walk=up,right&goal=456 -----------------------------------------------------------------

let written = "";
function remember() {
  const parts = [];
  if (state.start?.frame !== undefined) parts.push(`frame=${state.start.frame}`);
  if (state.start?.frame !== undefined && state.steps.length) parts.push(`walk=${chain().map(encodeURIComponent).join(",")}`);
  if (state.goal?.frame !== undefined) parts.push(`goal=${state.goal.frame}`);
  written = parts.length ? `#${parts.join("&")}` : "";
  history.replaceState(null, "", written || location.pathname);
}
function rowIn(text, what) {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`The address has ${what}=${text.slice(0, 40)}, expected the number of a frame.`);
  return Number(text);
}
async function followAddress() {
  const given = new Map(location.hash.slice(1).split("&").filter(Boolean).map((part) => [part.split("=")[0], part.slice(part.indexOf("=") + 1)]));
  const motions = (given.get("walk") || "").split(",").filter(Boolean).map(decodeURIComponent);
  try {
    const frame = given.has("frame") ? rowIn(given.get("frame"), "frame") : 0;
    const goal = given.has("goal") ? rowIn(given.get("goal"), "goal") : null;
    await setGoal(goal === null ? null : { frame: goal });
    await goTo({ frame }, motions);
  } catch (problem) {
    complain(problem);
    if (!state.start) { await setGoal(null); await goTo({ frame: 0 }); }
  }
}

// --- Beginning ----------------------------------------------------------------------------------------------------

const inText = (target) => target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target.closest?.(".grid-map");
function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !state.start || inText(event.target)) return;
  if (event.key === "Escape") { state.walking = false; complain(null); return; }
  const where = { ArrowUp: "north", ArrowDown: "south", ArrowLeft: "west", ArrowRight: "east" }[event.key];
  const buttons = [...$("pad").querySelectorAll("button")];
  const pressed = where ? buttons.find((one) => one.dataset.where === where) : buttons[Number(event.key) - 1];
  const acts = { l: look, L: look, Backspace: stepBack, g: useAsGoal, G: useAsGoal };
  if (pressed) { event.preventDefault(); pressed.click(); }
  else if (Object.hasOwn(acts, event.key)) { event.preventDefault(); safely(acts[event.key])(); }
}
const useAsGoal = () => setGoal(last()?.truth ? { frame: last().truth.frame.row } : state.start);

function listen() {
  const on = (id, event, act) => $(id).addEventListener(event, safely(act));
  on("choose", "click", () => $("file").click());
  on("file", "change", async () => { if ($("file").files[0]) await openPicture($("file").files[0], false); $("file").value = ""; });
  on("goal-choose", "click", () => $("goal-file").click());
  on("goal-file", "change", async () => { if ($("goal-file").files[0]) await openPicture($("goal-file").files[0], true); $("goal-file").value = ""; });
  on("random", "click", () => goTo({ frame: Math.floor(Math.random() * state.info.store.frames) }));
  on("look", "click", look);
  on("back", "click", stepBack);
  on("again", "click", () => goTo(state.start));
  on("goal-use", "click", useAsGoal);
  on("go", "click", walkToGoal);
  on("recording", "change", async () => { await showMap(Number($("recording").value)); await goTo({ frame: state.map.points[0].row }); });
  on("frame-slider", "change", () => goTo({ frame: state.map.points[Number($("frame-slider").value)].row }));
  $("frame-slider").addEventListener("input", () => { $("frame-number").textContent = `${Number($("frame-slider").value) + 1} of ${state.map.points.length}`; });
  $("problem-close").addEventListener("click", () => complain(null));
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { if (location.hash !== written) followAddress().catch(complain); });
  acceptDrops();
}

async function begin() {
  state.info = await ask("/v1/description");
  const { model, store } = state.info;
  $("token-form").hidden = true;
  const motions = `${model.motions.length} named motion${model.motions.length === 1 ? "" : "s"}`;
  $("about").textContent = `${model.name}: ${count(model.features)} features, ${motions}` + (store ? ` · ${count(store.frames)} frames in ${count(store.recordings)} recordings` : "");
  document.title = `${model.name} · egoequiv explorer`;
  if (!store) throw new Error("This service has no store to explore. Start it again with --store STORE; the interface for programs works all the same.");
  const [height, width] = store.image_shape;
  document.documentElement.style.setProperty("--aspect", `${width} / ${height}`);
  document.body.classList.toggle("pixelated", Math.max(height, width) < 100);
  document.body.classList.toggle("wide", width / height > 1.8);
  $("main").hidden = false;
  showPad();
  await listRecordings();
  await followAddress();
  await showScatter().catch((problem) => { $("scatter-hint").textContent = problem.message; });
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  state.token = $("token").value.trim();
  sessionStorage.setItem("egoequiv-token", state.token);
  safely(begin)();
});
listen();
safely(begin)();
