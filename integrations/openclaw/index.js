// clawmem as the memory of OpenClaw: context before a prompt, capture after a turn, tools on demand.

import { existsSync } from "node:fs";

import { Managers } from "./lib/agents.js";
import { CAPTURE_MS, Command, HOOK_MS } from "./lib/command.js";
import { FlushPlan } from "./lib/flush.js";
import { memoryTools, promptSection } from "./lib/memory.js";
import { LEAST, ownWords } from "./lib/prompt.js";
import { classified } from "./lib/provenance.js";
import { clawmemTools } from "./lib/tools.js";
import { Transcript } from "./lib/transcript.js";

const PRIORITY = 10;

export default {
  id: "clawmem",
  name: "clawmem",
  description: "A local memory over your own Markdown notes.",

  // OpenClaw registers a plugin several times, also only to list its tools: nothing is started here.
  register(api) {
    const settings = api.pluginConfig ?? {};
    const command = new Command(settings);
    const workspaceOf = (agentId) => api.runtime?.agent?.resolveAgentWorkspaceDir?.(api.config, agentId);
    const managers = new Managers(command, settings, workspaceOf);
    const flushPlan = new FlushPlan(command);
    const refresh = (manager) => Promise.all([manager.refresh(), flushPlan.load()]);

    api.registerMemoryCapability({
      promptBuilder: promptSection,
      flushPlanResolver: (asked) => flushPlan.resolve(asked),
      deterministicRecallToolName: "memory_search",
      runtime: {
        async getMemorySearchManager({ agentId } = {}) {
          const manager = managers.of(agentId);
          await refresh(manager);
          return manager.known ? { manager } : { manager: null, error: manager.absent };
        },
        resolveMemoryBackendConfig: () => ({ backend: "builtin" }),
        classifyWorkspaceMemoryPaths: classified,
        authorizeSearchHits: async ({ hits }) => hits,
        closeMemorySearchManager: async () => undefined,
      },
    });

    // The agent is known when a tool is made for a run, and only then.
    api.registerTool((ctx) => memoryTools(managers.of(ctx?.agentId, ctx?.workspaceDir)), {
      names: ["memory_search", "memory_get"],
    });
    const tools = settings.enableTools === false ? [] : clawmemTools(command);
    for (const tool of tools) api.registerTool(tool, { names: [tool.name] });

    api.registerService?.({
      id: "clawmem",
      // The gateway does not wait for it; a prompt works without a server too.
      start() {
        command
          .startServer()
          .then((isNew) => api.logger?.info?.(`clawmem: ${isNew ? "started" : "found"} a server of the vault.`))
          .catch((error) => api.logger?.warn?.(`clawmem: ${error.message}`))
          .then(() => refresh(managers.of()))
          .catch((error) => api.logger?.warn?.(`clawmem: ${error.message}`));
      },
    });

    addHooks(api, { command, settings, managers, flushPlan });
  },
};

function addHooks(api, { command, settings, managers, flushPlan }) {
  const greeted = new Set();
  const on = (hook, timeoutMs, handler) =>
    api.on(
      hook,
      async (event, ctx) => {
        try {
          return await handler(event ?? {}, ctx ?? {});
        } catch (error) {
          api.logger?.warn?.(`clawmem ${hook}: ${error.message}`);
          return undefined; // the agent goes on without the memory
        }
      },
      { priority: PRIORITY, timeoutMs },
    );

  on("before_prompt_build", HOOK_MS + 2_000, async (event, ctx) => {
    const prompt = ownWords(event.currentUserMessage ?? event.prompt);
    if (prompt.length < LEAST || isAutomatic(ctx)) return undefined;
    const fields = { session_id: sessionOf(ctx), cwd: ctx.workspaceDir };
    const isFirst = !greeted.has(fields.session_id) && greeted.add(fields.session_id);
    if (isFirst) managers.of(ctx.agentId, ctx.workspaceDir).begin();
    const blocks = await Promise.all([
      isFirst ? command.hook("SessionStart", { ...fields, source: "startup" }, { also: ["session-bootstrap"] }) : "",
      command.hook("UserPromptSubmit", { ...fields, prompt }),
    ]);
    const context = blocks.filter(Boolean).join("\n\n");
    return context ? { prependContext: context } : undefined;
  });

  const capture = async (event, ctx, least = 1) => {
    if (isAutomatic(ctx) || !Array.isArray(event.messages)) return;
    const session = sessionOf(ctx);
    const transcript = new Transcript(ctx.agentId, session);
    if ((await transcript.append(event.messages)) >= least) {
      const fields = { session_id: session, transcript_path: transcript.file, cwd: ctx.workspaceDir };
      await command.hook("Stop", fields, { within: CAPTURE_MS - 2_000 });
    }
  };
  on("agent_end", CAPTURE_MS, (event, ctx) => Promise.all([capture(event, ctx, 2), flushPlan.load()]).then(() => undefined));
  // OpenClaw's own hook "session-memory" does the same on /new; therefore only on request.
  const saveNote = async (ctx) => {
    if (!settings.sessionNotes || isAutomatic(ctx) || !ctx.workspaceDir) return;
    const { file } = new Transcript(ctx.agentId, sessionOf(ctx));
    const words = ["openclaw", "session-note", "--transcript", file, "--workspace", ctx.workspaceDir];
    if (existsSync(file)) await command.ask(words);
  };
  on("before_reset", CAPTURE_MS, async (event, ctx) => {
    await capture(event, ctx);
    await saveNote(ctx);
  });
  on("before_compaction", HOOK_MS, async (event, ctx) => {
    const session = sessionOf(ctx);
    const transcript = new Transcript(ctx.agentId, session);
    await command.hook("PreCompact", { session_id: session, transcript_path: transcript.file, trigger: "auto" });
  });
  on("session_end", HOOK_MS, async (event, ctx) => {
    greeted.delete(sessionOf(ctx));
    await saveNote({ ...ctx, sessionId: ctx.sessionId ?? event.sessionId });
  });
}

/** Whether no user wrote the prompt: a heartbeat, a timer or another agent. */
function isAutomatic(ctx) {
  const trigger = ctx.trigger ?? "user";
  const kind = ctx.inputProvenance?.kind ?? "external_user";
  return !["user", "manual"].includes(trigger) || kind === "inter_session" || kind === "internal_system";
}

function sessionOf(ctx) {
  return ctx.sessionId ?? ctx.sessionKey ?? "openclaw";
}
