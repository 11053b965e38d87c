// Calls of the `clawmem` command, which uses a running server by itself.

import { spawn } from "node:child_process";

const MOST_OUTPUT = 8 << 20; // bytes

export const TOOL_MS = 10_000;
export const HOOK_MS = 10_000;
export const CAPTURE_MS = 30_000;
const START_MS = 90_000; // nothing waits for it

const NOT_FOUND = 3; // exit code

/** A call that failed; the message is that of the command. */
export class CommandFailed extends Error {
  constructor(message, code = 0) {
    super(message);
    this.notFound = code === NOT_FOUND;
  }
}

/** The `clawmem` command with the settings of the plugin. */
export class Command {
  constructor(settings = {}) {
    this.binary = settings.clawmemBin || "clawmem";
    this.profile = settings.profile || "balanced";
    this.port = settings.servePort;
    this.environ = { ...process.env, ...variables(settings) };
  }

  /** Return the context that the hooks of `event`, and the optional ones in `also`, add; empty if they add none or fail. */
  async hook(event, fields, { within = HOOK_MS, also = [], signal } = {}) {
    try {
      const with_ = also.length ? ["--with", also.join(",")] : [];
      const told = JSON.stringify({ hook_event_name: event, ...fields });
      const answer = JSON.parse(await this.run(["hook", event, "--profile", this.profile, ...with_], told, within, signal));
      return answer?.hookSpecificOutput?.additionalContext ?? "";
    } catch {
      return "";
    }
  }

  /** Return the JSON that the command prints; throws `CommandFailed` if it refuses or is late. */
  async ask(words, { within = TOOL_MS, signal } = {}) {
    const [verb, ...rest] = words;
    const output = await this.run([verb, "--json", ...rest], "", within, signal);
    try {
      return JSON.parse(output);
    } catch {
      throw new CommandFailed(`clawmem ${verb} answered with something else than JSON.`);
    }
  }

  /** Start a server in the background, which exits when it is idle; return false if a server runs already. */
  async startServer() {
    const port = this.port ? ["--port", String(this.port)] : [];
    const { started } = await this.ask(["serve", "--background", "--idle-exit", "30", ...port], { within: START_MS });
    return started;
  }

  run(words, text, within, signal) {
    return new Promise((resolve, reject) => {
      const child = spawn(this.binary, words, { env: this.environ, stdio: ["pipe", "pipe", "pipe"] });
      let output = "";
      let errors = "";
      const end = (error) => {
        clearTimeout(timer);
        signal?.removeEventListener?.("abort", abort);
        if (error) reject(Object.assign(error, { output }));
        else resolve(output);
      };
      const abort = () => {
        child.kill();
        end(new CommandFailed(`clawmem ${words[0]} was cancelled.`));
      };
      const timer = setTimeout(() => {
        child.kill();
        end(new CommandFailed(`clawmem ${words[0]} did not answer within ${within / 1000} seconds.`));
      }, within);
      signal?.addEventListener?.("abort", abort, { once: true });
      child.stdout.setEncoding("utf8").on("data", (part) => {
        if (output.length < MOST_OUTPUT) output += part;
      });
      child.stderr.setEncoding("utf8").on("data", (part) => {
        if (errors.length < 4_000) errors += part;
      });
      child.on("error", (error) =>
        end(new CommandFailed(`There is no program ${this.binary} (${error.code}). Install clawmem, or set its path.`)),
      );
      child.on("close", (code) => end(code === 0 ? null : new CommandFailed(errors.trim() || `exit code ${code}`, code)));
      child.stdin.on("error", () => {}); // the command may exit before it has read everything
      child.stdin.end(text);
    });
  }
}

function variables(settings) {
  const chosen = {
    INDEX_PATH: settings.vault,
    CLAWMEM_TOKEN_BUDGET: settings.tokenBudget && String(settings.tokenBudget),
    CLAWMEM_EMBED_URL: settings.gpuEmbed,
    CLAWMEM_LLM_URL: settings.gpuLlm,
    CLAWMEM_RERANK_URL: settings.gpuRerank,
  };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value));
}
