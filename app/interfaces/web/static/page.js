// Without this file every page works by links and forms; with it, search follows the typing and keys move about.

const live = document.querySelector("form[data-live]");
const target = live && document.querySelector(live.dataset.live);
let waiting, running;

async function replace(element, url) {
  running?.abort();
  running = new AbortController();
  try {
    const response = await fetch(url, { signal: running.signal, headers: { Accept: "text/html" } });
    if (response.status === 401) return location.reload();
    if (response.ok) element.innerHTML = await response.text(); // the server's own page, escaped there
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
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

function select(step) {
  const results = [...document.querySelectorAll(".results h2 a, .notes td:first-child a:first-child")];
  if (!results.length) return;
  const index = results.indexOf(document.activeElement) + step;
  results[Math.min(Math.max(index, 0), results.length - 1)].focus();
}

const HELP = { "/": "search", j: "next", k: "previous", g: "home" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest?.("input, textarea, select");
  if (event.key === "ArrowDown" && isTyping?.type === "search") select(1);
  else if (isTyping || !(event.key in HELP)) return;
  else if (event.key === "j") select(1);
  else if (event.key === "k") select(-1);
  else if (event.key === "g") location.assign("/ui/");
  else document.querySelector("input[type=search]")?.focus();
  event.preventDefault();
});

// What the server has new is fetched again, while nobody points at or reads a part of it by keyboard.
const followed = document.querySelector("[data-follow]");
if (followed) {
  new EventSource("/ui/events").addEventListener("message", () => {
    if (!followed.matches(":focus-within")) replace(followed, followed.dataset.follow);
  });
}

// Parts that take the server longer come after the page.
for (const part of document.querySelectorAll("[data-load]")) {
  fetch(part.dataset.load)
    .then((response) => response.text())
    .then((text) => part.replaceChildren(...new DOMParser().parseFromString(text, "text/html").querySelector("main").childNodes));
}
