// Plan of the flush before a compaction, from `clawmem openclaw flush-plan`.

/** The plan, once it was loaded; OpenClaw asks for it without waiting. */
export class FlushPlan {
  constructor(command) {
    this.command = command;
    this.known = null;
  }

  async load() {
    this.known ??= await this.command.ask(["openclaw", "flush-plan"]).catch(() => null);
  }

  /** Return the plan in OpenClaw's words; null before it was loaded, and for a window that the reserve would fill. */
  resolve({ contextWindowTokens: window, nowMs } = {}) {
    const plan = this.known;
    if (!plan || (window && window <= plan.reserve_tokens_floor + plan.soft_threshold_tokens)) return null;
    // A gateway runs for many days, and each has its own file.
    const file = `memory/${new Date(nowMs ?? Date.now()).toISOString().slice(0, 10)}.md`;
    return {
      softThresholdTokens: plan.soft_threshold_tokens,
      forceFlushTranscriptBytes: plan.force_flush_transcript_bytes,
      reserveTokensFloor: plan.reserve_tokens_floor,
      prompt: plan.prompt.replaceAll(plan.relative_path, file),
      systemPrompt: plan.system_prompt,
      relativePath: file,
    };
  }
}
