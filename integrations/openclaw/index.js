// clawmem as the memory of OpenClaw: context before a prompt, capture after a turn, tools on demand.

import { CAPTURE_MS, Command, HOOK_MS } from "./lib/command.js";
import { SearchManager, memoryTools, promptSection } from "./lib/memory.js";
import { LEAST, ownWords } from "./lib/prompt.js";
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
    const manager = new SearchManager(command);
    let flushPlan = null;

    const refresh = async () => {
      await manager.refresh();
      flushPlan = await command.ask(["openclaw", "flush-plan"]).catch(() => flushPlan);
    };

    api.registerMemoryCapability({
      promptBuilder: promptSection,
      flushPlanResolver: ({ contextWindowTokens } = {}) => planFor(flushPlan, contextWindowTokens),
      deterministicRecallToolName: "memory_search",
      runtime: {
        async getMemorySearchManager() {
          await refresh();
          return manager.known ? { manager } : { manager: null, error: "clawmem has no vault. Run: clawmem bootstrap FOLDER" };
        },
        resolveMemoryBackendConfig: () => ({ backend: "builtin" }),
        authorizeSearchHits: async ({ hits }) => hits,
        closeMemorySearchManager: async () => undefined,
      },
    });

    const tools = [...memoryTools(manager), ...(settings.enableTools === false ? [] : clawmemTools(command))];
    for (const tool of tools) api.registerTool(tool, { names: [tool.name] });

    api.registerService?.({
      id: "clawmem",
      async start() {
        await command.startServer().catch((error) => api.logger?.warn?.(`clawmem: ${error.message}`));
        await refresh();
      },
    });

    addHooks(api, command);
  },
};

function planFor(plan, window) {
  // A window without room for the reserve would be flushed at every turn.
  if (!plan || (window && window <= plan.reserve_tokens_floor + plan.soft_threshold_tokens)) return null;
  return {
    softThresholdTokens: plan.soft_threshold_tokens,
    forceFlushTranscriptBytes: plan.force_flush_transcript_bytes,
    reserveTokensFloor: plan.reserve_tokens_floor,
    prompt: plan.prompt,
    systemPrompt: plan.system_prompt,
    relativePath: plan.relative_path,
  };
}

function addHooks(api, command) {
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
  on("agent_end", CAPTURE_MS, (event, ctx) => capture(event, ctx, 2));
  on("before_reset", CAPTURE_MS, (event, ctx) => capture(event, ctx));
  on("before_compaction", HOOK_MS, async (event, ctx) => {
    const session = sessionOf(ctx);
    const transcript = new Transcript(ctx.agentId, session);
    await command.hook("PreCompact", { session_id: session, transcript_path: transcript.file, trigger: "auto" });
  });
  on("session_end", HOOK_MS, (event, ctx) => {
    greeted.delete(sessionOf(ctx));
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
