// Memory of single agents: their own files and sessions, ranked as OpenClaw's built-in memory does.

import { SearchManager, clamped } from "./memory.js";

const INDEX_MS = 120_000;
const SEARCH_MS = 30_000; // changed files are indexed before a search

/** The search manager of one agent over `clawmem openclaw`; no other agent's memory is read. */
export class AgentManager extends SearchManager {
  constructor(command, settings, agentId, workspace) {
    super(command);
    this.agent = ["--agent", String(agentId || "main").toLowerCase()];
    this.sources = [
      ...(workspace ? ["--workspace", workspace] : []),
      ...(settings.extraPaths ?? []).flatMap((path) => ["--extra", path]),
      settings.sessions ? "--sessions" : "--no-sessions",
    ];
    this.indexed = null;
  }

  async search(query, { maxResults, minScore, sources, corpus, signal } = {}) {
    if (!String(query ?? "").trim()) return [];
    await this.index();
    const source = corpus === "sessions" ? "sessions" : corpus === "memory" ? "memory" : sources?.length === 1 ? sources[0] : "all";
    const words = [
      ...this.agent,
      "-n",
      String(clamped(maxResults, 1, 50, 6)),
      "--source",
      source,
      ...(Number.isFinite(minScore) ? ["--min-score", String(Math.min(1, Math.max(0, minScore)))] : []),
    ];
    const found = await this.command.ask(["openclaw", "search", ...words, "--", String(query)], { signal, within: SEARCH_MS });
    return found.results.map((one) => ({
      path: one.path,
      startLine: one.start_line,
      endLine: one.end_line,
      score: one.score,
      snippet: one.snippet,
      source: one.source,
      citation: `${one.path}#L${one.start_line}`,
      ...(one.vector_score === null ? {} : { vectorScore: one.vector_score }),
      ...(one.text_score === null ? {} : { textScore: one.text_score }),
    }));
  }

  async read(path, range) {
    await this.index();
    return this.command.ask(["openclaw", "get", ...this.agent, ...range, "--", path], { within: SEARCH_MS });
  }

  async refresh() {
    this.known = await this.index().catch(() => this.known);
    return this.known;
  }

  status() {
    const known = this.known;
    const count = (source) => known?.files?.[source] ?? 0;
    return {
      ...super.status(),
      files: count("memory") + count("sessions"),
      chunks: known?.chunks,
      dirty: (known?.pending ?? 0) > 0,
      custom: { vault: known?.vault, workspace: known?.workspace, ranking: "openclaw" },
    };
  }

  /** A session begins: earlier ones have ended, and are indexed in the background, however little they grew. */
  begin() {
    this.index(["--all-sessions"]).catch(() => undefined);
  }

  async sync({ force, sessions } = {}) {
    await this.index(force || sessions?.length ? ["--all-sessions"] : []).catch(() => undefined);
    await this.refresh();
  }

  /** Return what the memory has; tell clawmem its sources at first use, with `more` options, and after a failure. */
  async index(more) {
    if (!this.indexed || more) {
      const words = ["openclaw", "index", ...this.agent, ...this.sources, ...(more ?? [])];
      this.indexed = this.command.ask(words, { within: INDEX_MS });
      this.indexed.catch((error) => {
        this.indexed = null;
        this.absent = error.message;
      });
    }
    return this.indexed;
  }
}

/** The managers of all agents: one for all over the user's vault, or one for each agent. */
export class Managers {
  constructor(command, settings, workspaceOf = () => undefined) {
    this.command = command;
    this.settings = settings;
    this.workspaceOf = workspaceOf;
    this.ofAgents = new Map();
    this.ofAll = new SearchManager(command);
  }

  of(agentId, workspace) {
    if (this.settings.ranking !== "openclaw") return this.ofAll;
    const id = String(agentId || "main").toLowerCase();
    if (!this.ofAgents.has(id)) {
      const folder = workspace ?? this.workspaceOf(id);
      this.ofAgents.set(id, new AgentManager(this.command, this.settings, id, folder));
    }
    return this.ofAgents.get(id);
  }
}
