// Two of clawmem's policies in JavaScript, and the loop that lets `clawmem conformance vectors` check them.
import { createInterface } from "node:readline";

const DAMPING = 60;
const TOP_RANK_BONUS = [0.05, 0.02, 0.02]; // by rank, from 0
const NOT_IN_JSON = { nan: NaN, inf: Infinity, "-inf": -Infinity };

class Refused extends Error {}

const number = (value) => (typeof value === "string" ? NOT_IN_JSON[value] : value);

function rrf({ rankings, weights = {}, k = DAMPING, bonus = true }) {
  const stranger = Object.keys(weights).find((leg) => !Object.hasOwn(rankings, leg));
  if (stranger !== undefined) throw new Refused(`a weight for ${stranger}, which is not there`);
  const damping = Number.isFinite(number(k)) && number(k) > 0 ? number(k) : DAMPING;
  const shares = new Map();
  for (const [leg, ranking] of Object.entries(rankings)) {
    const given = number(weights[leg] ?? 1);
    const weight = Number.isFinite(given) && given >= 0 ? given : 1;
    if (weight === 0) continue;
    [...new Set(ranking)].forEach((key, rank) => {
      const share = weight / (damping + rank + 1) + (bonus ? (TOP_RANK_BONUS[rank] ?? 0) : 0);
      shares.set(key, [...(shares.get(key) ?? []), share]);
    });
  }
  // Added up in one order, whatever the order of the legs: keys with the same shares must tie to the last bit.
  const sum = (numbers) => numbers.sort((a, b) => a - b).reduce((a, b) => a + b);
  const total = [...shares].map(([key, parts]) => [key, sum(parts)]);
  return total.sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
}

// Kana and Han are written without spaces: each character is a word.
const WORD = /[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[\p{L}\p{N}_])+/gu;

function features(text) {
  const words = text.toLowerCase().match(WORD) ?? [];
  const pairs = words.slice(1).map((word, place) => `${words[place]} ${word}`);
  return new Set([...pairs, ...words.filter((word) => [...word].length >= 4)]); // code points, not UTF-16 units
}

function likeness(one, other) {
  const shared = [...one].filter((feature) => other.has(feature)).length;
  return shared / (one.size + other.size - shared || 1);
}

function mmr({ ranked, texts, threshold = 0.6 }) {
  if (!(threshold >= 0 && threshold <= 1)) throw new Refused(`threshold ${threshold}`);
  if (ranked.length <= 2) return ranked;
  const kept = new Map();
  for (const key of ranked) {
    const mine = features(texts[key]);
    if (![...kept.values()].some((other) => likeness(mine, other) > threshold)) kept.set(key, mine);
  }
  return [...kept.keys(), ...ranked.filter((key) => !kept.has(key))];
}

const POLICIES = new Map(Object.entries({ rrf, mmr })); // one function a policy: add yours here

function answer({ policy, input }) {
  if (!POLICIES.has(policy)) return { unsupported: true };
  try {
    return { output: POLICIES.get(policy)(input) };
  } catch (error) {
    if (error instanceof Refused) return { error: error.message };
    throw error; // a defect: better to die over it than to call it a refusal
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  console.log(JSON.stringify({ id: question.id, ...answer(question) }));
});
