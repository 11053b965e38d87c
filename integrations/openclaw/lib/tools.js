// The five tools of clawmem beyond OpenClaw's own two.

import { answer, clamped } from "./memory.js";

const LIMIT = { type: "integer", minimum: 1, maximum: 50 };
const NOTE = { type: "string", description: "A path, #docid or title, as another tool returned it." };

const MODES = { auto: "auto", hybrid: "hybrid", keyword: "words", semantic: "vectors" };

const TOOLS = [
  {
    name: "clawmem_search",
    label: "Search notes",
    description: "Search the user's notes with a chosen mode: auto, hybrid, keyword or semantic.",
    required: ["query"],
    properties: {
      query: { type: "string" },
      mode: { type: "string", enum: Object.keys(MODES) },
      collection: { type: "string" },
      limit: LIMIT,
      compact: { type: "boolean", description: "Without lines, times and headings." },
    },
    words: ({ query, mode, collection, limit }) => [
      "query",
      "--mode",
      MODES[mode] ?? MODES.auto,
      "-n",
      String(clamped(limit, 1, 50, 10)),
      ...(collection ? ["--collection", String(collection)] : []),
      "--",
      String(query),
    ],
    shown: (found, { compact }) => (compact === false ? found : { ...found, results: found.results?.map(shortened) }),
  },
  {
    name: "clawmem_get",
    label: "Read a note",
    description: "Read one note as text.",
    required: ["docid"],
    properties: { docid: NOTE },
    words: ({ docid }) => ["get", "--", String(docid)],
  },
  {
    name: "clawmem_session_log",
    label: "List sessions",
    description: "List earlier sessions with their summaries.",
    required: [],
    properties: { limit: LIMIT },
    words: ({ limit }) => ["sessions", "-n", String(clamped(limit, 1, 50, 5))],
  },
  {
    name: "clawmem_timeline",
    label: "Notes around a note",
    description: "List what was written before and after a note.",
    required: ["docid"],
    properties: {
      docid: NOTE,
      before: { ...LIMIT, minimum: 0 },
      after: { ...LIMIT, minimum: 0 },
      same_collection: { type: "boolean" },
    },
    words: ({ docid, before, after, same_collection: same }) => [
      "timeline",
      "--before",
      String(clamped(before, 0, 50, 5)),
      "--after",
      String(clamped(after, 0, 50, 5)),
      ...(same ? ["--same-collection"] : []),
      "--",
      String(docid),
    ],
  },
  {
    name: "clawmem_similar",
    label: "Similar notes",
    description: "List notes near to a note in meaning.",
    required: ["docid"],
    properties: { docid: NOTE, limit: LIMIT },
    words: ({ docid, limit }) => ["links", "--similar", "-n", String(clamped(limit, 1, 50, 5)), "--", String(docid)],
  },
];

/** Return the tools over `command`. */
export function clawmemTools(command) {
  return TOOLS.map(({ name, label, description, required, properties, words, shown }) => ({
    catalogMode: "direct-only",
    name,
    label,
    description,
    parameters: { type: "object", additionalProperties: false, required, properties },
    async execute(id, params, signal) {
      try {
        const found = await command.ask(words(params ?? {}), { signal });
        return answer(shown ? shown(found, params ?? {}) : found);
      } catch (error) {
        return answer({ error: error.message });
      }
    },
  }));
}

function shortened({ docid, file, title, snippet, score }) {
  return { docid, file, title, snippet, score };
}
