// Stand-in for OpenClaw: registers the plugin, then runs the steps on stdin and prints their results, as JSON.

import { pathToFileURL } from "node:url";

// A busy machine is no reason to give up on a process.
const inTime = globalThis.setTimeout;
globalThis.setTimeout = (call, ms, ...more) => inTime(call, ms * 10, ...more);

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { plugin, config, agent = {}, steps } = JSON.parse(Buffer.concat(chunks).toString("utf8"));

const hooks = {};
const tools = {};
const services = {};
const warnings = [];
const said = [];
let capability;
const api = {
  pluginConfig: config,
  logger: { warn: (text) => warnings.push(text), info: (text) => said.push(text) },
  registrationMode: "full",
  on: (hook, handler, options) => (hooks[hook] = { handler, options }),
  runtime: { agent: { resolveAgentWorkspaceDir: () => agent.workspaceDir } },
  registerTool: (tool) => {
    const made = typeof tool === "function" ? tool({ agentId: "main", ...agent }) : tool;
    for (const one of [made].flat()) tools[one.name] = one;
  },
  registerService: (service) => (services[service.id] = service),
  registerMemoryCapability: (found) => (capability = found),
};
const { default: entry } = await import(pathToFileURL(plugin));
const returned = entry.register(api);

const actions = {
  service: async ({ name }) => {
    services[name].start();
    while (!said.length && !warnings.length) await new Promise((resolve) => inTime(resolve, 20));
    return said.shift() ?? warnings.shift();
  },
  hook: ({ name, event, ctx }) => hooks[name].handler(event, ctx),
  tool: ({ name, params }) => tools[name].execute("call", params).then((found) => found.details),
  search: async ({ query, options }) => (await manager()).search(query, options),
  read: async ({ options }) => (await manager()).readFile(options),
  sync: async ({ options }) => (await manager()).sync(options),
  status: async () => (await manager()).status(),
  section: ({ available, citationsMode }) => capability.promptBuilder({ availableTools: new Set(available), citationsMode }),
  plan: async ({ window }) => (await manager(), capability.flushPlanResolver({ contextWindowTokens: window })),
};

async function manager() {
  const { manager: found, error } = await capability.runtime.getMemorySearchManager({ agentId: "main", ...agent });
  if (!found) throw new Error(error);
  return found;
}

const results = [];
for (const step of steps) {
  try {
    results.push((await actions[step.do](step)) ?? null);
  } catch (error) {
    results.push({ thrown: error.message });
  }
}
const limits = Object.fromEntries(Object.entries(hooks).map(([name, { options }]) => [name, options]));
process.stdout.write(JSON.stringify({ results, warnings, limits, services: Object.keys(services), tools: Object.keys(tools), isSync: returned === undefined }));
