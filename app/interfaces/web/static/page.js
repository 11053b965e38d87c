// Without this file every page works by links and forms; with it, search follows the typing and keys move about.

const live = document.querySelector("form[data-live]");
const target = live && document.querySelector(live.dataset.live);
let waiting, running;

// Shows a page of the server, or a part of one, in an element of this page.
async function show(element, url, signal) {
  try {
    const response = await fetch(url, { signal });
    if (response.status === 401) return location.reload(); // the session has ended, and the page says so
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    page.querySelector("h1")?.remove(); // this page has one
    element.replaceChildren(...(page.querySelector("main") ?? page.body).childNodes);
  } catch (error) {
    if (error.name === "AbortError") return;
    const notice = Object.assign(document.createElement("p"), { className: "message error", role: "alert" });
    notice.textContent = "The server does not answer. Once it runs, load this page again.";
    element.replaceChildren(notice);
  }
}

function replace(element, url) {
  running?.abort();
  running = new AbortController();
  show(element, url, running.signal);
}

function follow() {
  const query = new URLSearchParams([...new FormData(live)].filter(([, value]) => value));
  history.replaceState(null, "", `/ui/search?${query}`);
  query.set("part", "results");
  query.set("typed", "yes");
  replace(target, `/ui/search?${query}`);
}

live?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(follow, 130);
});

const lines = () => [...document.querySelectorAll(".results h2 a, .notes td:first-child a:first-child")];

function select(index) {
  const results = lines();
  results[Math.min(Math.max(index, 0), results.length - 1)]?.focus();
}

// A key presses the button that shows it: that of the chosen line, or else the first one of the page.
function press(key) {
  const line = document.activeElement.closest("tr");
  const shows = `[aria-keyshortcuts="${CSS.escape(key)}"]`;
  const button = line?.querySelector(shows) ?? (line?.querySelector(".do") && key !== "u" ? null : document.querySelector(shows));
  if (line) sessionStorage.setItem(`line ${location.pathname}`, lines().indexOf(line.querySelector("a")));
  button?.click();
  return Boolean(button);
}

// After a change the page begins again where it was left.
const left = sessionStorage.getItem(`line ${location.pathname}`);
sessionStorage.removeItem(`line ${location.pathname}`);
if (left !== null) select(Number(left));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest?.("input, textarea, select");
  const index = lines().indexOf(document.activeElement);
  if (event.key === "ArrowDown" && isTyping?.type === "search") select(0);
  else if (isTyping) return;
  else if (event.key === "j") select(index + 1);
  else if (event.key === "k") select(index - 1);
  else if (event.key === "g") location.assign("/ui/");
  else if (event.key === "/") document.querySelector("input[type=search]")?.focus();
  else if (!press(event.key)) return;
  event.preventDefault();
});

// What the server has new is fetched again, while nobody points at or reads a part of it by keyboard.
const followed = document.querySelector("[data-follow]");
if (followed) {
  const events = new EventSource("/ui/events");
  events.addEventListener("message", () => {
    if (!followed.matches(":focus-within")) replace(followed, followed.dataset.follow);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) location.reload(); // the session has ended
  });
}

// Parts that take the server longer come after the page.
for (const part of document.querySelectorAll("[data-load]")) show(part, part.dataset.load);

// The graph is moved by dragging, and nearer or farther by the wheel or the buttons.
const graph = document.querySelector("svg[data-pan]");
if (graph) {
  const whole = graph.getAttribute("viewBox");
  const box = () => graph.getAttribute("viewBox").split(" ").map(Number);
  const look = (...numbers) => graph.setAttribute("viewBox", numbers.map((number) => number.toFixed(1)).join(" "));
  const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(graph.getScreenCTM().inverse());
  const zoom = (factor, x, y) => {
    const [left, top, width, height] = box();
    if (width * factor < 60 || width * factor > 6000) return;
    look(x - (x - left) * factor, y - (y - top) * factor, width * factor, height * factor);
  };
  let grip;
  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = point(event);
    zoom(event.deltaY > 0 ? 1.15 : 0.87, x, y);
  }, { passive: false });
  graph.addEventListener("pointerdown", (event) => { grip = point(event); });
  graph.addEventListener("pointermove", (event) => {
    if (!grip || !event.buttons) return;
    const [left, top, width, height] = box();
    const { x, y } = point(event);
    look(left + grip.x - x, top + grip.y - y, width, height);
  });
  graph.addEventListener("dragstart", (event) => event.preventDefault());
  const buttons = document.querySelector(".zoom");
  buttons.hidden = false;
  buttons.addEventListener("click", (event) => {
    const factor = Number(event.target.dataset.zoom);
    const [left, top, width, height] = box();
    if (factor) zoom(factor, left + width / 2, top + height / 2);
    else graph.setAttribute("viewBox", whole);
  });
}
