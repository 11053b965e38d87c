// Transcript of a session as a file, in the format of Claude Code, in which clawmem finds decisions.

import { createHash, randomUUID } from "node:crypto";
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";

import { ownWords } from "./prompt.js";

/** Return the folder in which the plugin keeps transcripts. */
export function stateFolder() {
  return path.join(process.env.OPENCLAW_STATE_DIR || path.join(homedir(), ".openclaw"), "clawmem");
}

/** The transcript of one session of an agent. OpenClaw gives the whole session each time; only new messages are added. */
export class Transcript {
  constructor(agent, session, folder = stateFolder()) {
    this.file = path.join(folder, safeName(agent), safeName(session), "transcript.jsonl");
    this.cursor = path.join(path.dirname(this.file), "cursor.json");
  }

  /** Append the messages that are not in the file yet; return how many. */
  async append(messages) {
    const said = messages.map(spoken).filter(Boolean);
    const known = await this.lastKey();
    const at = known ? said.findLastIndex((one) => one.key === known) : -1;
    const fresh = said.slice(at + 1);
    if (!fresh.length) return 0;
    await mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
    await appendFile(this.file, fresh.map(line).join(""), { mode: 0o600 });
    const draft = `${this.cursor}.${process.pid}`;
    await writeFile(draft, JSON.stringify({ last: fresh.at(-1).key }), { mode: 0o600 });
    await rename(draft, this.cursor);
    return fresh.length;
  }

  async lastKey() {
    try {
      return JSON.parse(await readFile(this.cursor, "utf8")).last;
    } catch {
      return undefined;
    }
  }
}

/** Return `text` as the name of a folder; texts that differ get names that differ, also without regard to case. */
function safeName(text) {
  const id = String(text ?? "") || "main";
  const name = id.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
  return `${name}-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`.replace(/^-/, "");
}

/** Return role, text and identity of a message that the user or the assistant wrote, undefined for any other. */
function spoken(message) {
  const role = message?.role;
  if (role !== "user" && role !== "assistant") return undefined;
  const whole = textOf(message.content);
  const text = role === "user" ? ownWords(whole) : whole.trim();
  if (!text) return undefined;
  const key = createHash("sha256").update(JSON.stringify([role, message.timestamp ?? 0, text])).digest("hex");
  return { role, text, key, at: message.timestamp };
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter((block) => block?.type === "text" && typeof block.text === "string")
    .map((block) => block.text)
    .join("\n\n");
}

function line({ role, text, at }) {
  const moment = new Date(typeof at === "number" || typeof at === "string" ? at : Date.now());
  const timestamp = (Number.isNaN(moment.getTime()) ? new Date() : moment).toISOString();
  const id = randomUUID();
  const message = { id, role, content: [{ type: "text", text }] };
  return `${JSON.stringify({ type: role, uuid: id, timestamp, message })}\n`;
}
