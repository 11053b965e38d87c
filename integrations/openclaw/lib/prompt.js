// The text that the user typed, without what OpenClaw or an earlier prompt added to it.

const BLOCK = /<(vault-[a-z-]+|memory-context|relevant-memories)\b[^>]*>[\s\S]*?<\/\1>/g;
const STAMP = /^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[^\]\n]{0,60}\]\s*/;
const SYSTEM_LINE = /^System:[^\n]*\n?/gm;
const METADATA = /^(?:Sender|Conversation info|Replied message|Forwarded message)[^\n]{0,120}\(untrusted[^\n]*\):\s*\n```(?:json)?\n[\s\S]*?\n```\s*/gm;
const MESSAGE_ID = /^\[message_id:[^\]\n]{0,120}\]\s*$/gm;

/** Least characters of a prompt that is worth a search. */
export const LEAST = 5;

/** Return the user's own words in `text`. */
export function ownWords(text) {
  return String(text ?? "")
    .replace(BLOCK, "")
    .replace(METADATA, "")
    .replace(SYSTEM_LINE, "")
    .replace(MESSAGE_ID, "")
    .trim()
    .replace(STAMP, "")
    .trim();
}
