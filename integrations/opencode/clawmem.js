// clawmem plugin for OpenCode: matching notes for each prompt, capture after each turn.
// `clawmem setup opencode` copies this file and fills in the settings; `clawmem setup opencode --remove` deletes the copy.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const settings = { command: ["clawmem"], environment: {} };
const PROMPT_MS = 10000; // the hook answers after 7 s at the latest; the rest is for its start on a busy machine
const COMPACTION_MS = 5000;
const WRITERS = { write: "Write", edit: "Edit", patch: "Edit" };

const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share");
const environment = { ...process.env, ...settings.environment };

/** Return the digits by which clawmem names files of a session; ids differ in letters that some disks take for equal. */
const keyOf = (sessionID) => createHash("sha256").update(String(sessionID)).digest("hex").slice(0, 16);

function folderOf(sessionID) {
  const name = String(sessionID).replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
  const folder = join(data, "opencode", "clawmem", `${name}-${keyOf(sessionID)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

const transcriptOf = (sessionID) => join(folderOf(sessionID), "transcript.jsonl");

function append(sessionID, type, id, content) {
  const line = { type, uuid: id, timestamp: new Date().toISOString(), message: { id, role: type, content } };
  appendFileSync(transcriptOf(sessionID), JSON.stringify(line) + "\n", { mode: 0o600 });
}

/** Return a prompt without the quotation marks and escapes that `opencode run` puts around it. */
const unquoted = (prompt) => prompt.trim().replace(/^"((?:[^"\\]|\\.)*)"$/s, (_, text) => text.replaceAll('\\"', '"'));

/** Run the hooks of an event; resolve to the text for the model, empty after an error or too long a wait. */
function context(event, milliseconds) {
  return new Promise((resolve) => {
    const [program, ...start] = settings.command;
    const child = spawn(program, [...start, "hook", event.hook_event_name], { env: environment, cwd: event.cwd });
    const timer = setTimeout(() => child.kill(), milliseconds);
    let output = "";
    child.stdout.on("data", (part) => (output += part));
    child.stderr.on("data", () => {});
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(output).hookSpecificOutput?.additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

/** Run the hooks of an event in a process that outlives this one: `opencode run` ends with the turn. */
function report(event) {
  const [program, ...start] = settings.command;
  const file = join(folderOf(event.session_id), "event.json");
  writeFileSync(file, JSON.stringify(event), { mode: 0o600 });
  const input = openSync(file, "r");
  const options = { env: environment, cwd: event.cwd, stdio: [input, "ignore", "ignore"], detached: true };
  spawn(program, [...start, "hook", event.hook_event_name], options)
    .on("error", () => {})
    .unref();
  closeSync(input);
}

/** Return *handler* that never fails, because an error of a plugin ends the turn. */
const safe = (handler) => async (...given) => {
  try {
    await handler(...given);
  } catch {
    // Without memory the agent continues.
  }
};

export const Clawmem = async ({ client, directory }) => {
  const children = new Map();
  const said = new Map();
  const compacting = new Set(); // sessions whose next text is a summary

  /** Whether a session belongs to a subagent, whose prompts are not the user's. */
  async function isChild(sessionID) {
    if (!children.has(sessionID)) {
      const found = await client.session.get({ path: { id: sessionID } });
      children.set(sessionID, Boolean(found.data?.parentID));
    }
    return children.get(sessionID);
  }

  return {
    "chat.message": safe(async (input, output) => {
      if (await isChild(input.sessionID)) return;
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = unquoted(texts.map((part) => part.text).join("\n"));
      if (!prompt) return;
      append(input.sessionID, "user", output.message.id, prompt);
      const event = { hook_event_name: "UserPromptSubmit", session_id: input.sessionID, prompt, cwd: directory };
      const transcript_path = transcriptOf(input.sessionID);
      const text = await context({ ...event, transcript_path }, PROMPT_MS);
      if (!text) return;
      const { id, sessionID, messageID } = output.parts.at(-1);
      output.parts.push({ id: `${id}z`, sessionID, messageID, type: "text", text, synthetic: true });
    }),

    "experimental.text.complete": safe(async ({ sessionID, messageID }, { text }) => {
      if (!children.has(sessionID) || children.get(sessionID) || !text) return;
      if (compacting.delete(sessionID)) return; // the summary
      append(sessionID, "assistant", messageID, [{ type: "text", text }]);
      said.set(sessionID, text);
    }),

    "tool.execute.after": safe(async ({ tool, sessionID, callID, args }) => {
      if (!children.has(sessionID) || children.get(sessionID) || !WRITERS[tool] || !args?.filePath) return;
      const use = { type: "tool_use", name: WRITERS[tool], input: { file_path: args.filePath } };
      append(sessionID, "assistant", callID, [use]);
    }),

    "experimental.session.compacting": safe(async ({ sessionID }, output) => {
      compacting.add(sessionID);
      const transcript_path = transcriptOf(sessionID);
      await context({ hook_event_name: "PreCompact", session_id: sessionID, transcript_path, cwd: directory }, COMPACTION_MS);
      output.context.push(readFileSync(join(folderOf(sessionID), "memory", `precompact-state-${keyOf(sessionID)}.md`), "utf8"));
    }),

    event: safe(async ({ event }) => {
      const session_id = event.properties?.sessionID;
      if (event.type !== "session.idle" || !said.has(session_id)) return;
      const last_assistant_message = said.get(session_id);
      said.delete(session_id);
      const transcript_path = transcriptOf(session_id);
      report({ hook_event_name: "Stop", session_id, transcript_path, last_assistant_message, cwd: directory });
    }),
  };
};
